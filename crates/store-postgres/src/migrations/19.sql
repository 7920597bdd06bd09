-- Format 19. How a page needs what it needs to be shown.

ALTER TYPE via ADD VALUE IF NOT EXISTS 'frame';
ALTER TYPE via ADD VALUE IF NOT EXISTS 'style-sheet';
