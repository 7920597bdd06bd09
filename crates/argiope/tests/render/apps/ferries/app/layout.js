import Link from 'next/link';

export const metadata = { title: 'Ferries' };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <nav>
          <Link href="/">Ferries</Link> <Link href="/timetable">Timetable</Link>
        </nav>
        <main>{children}</main>
      </body>
    </html>
  );
}
