  // What a page waits for: its clock, its timers, and what no clock tells. The function is begun in `page.js`.

  // The clock of a page stands while its scripts run. For one that waits for it, it goes on with each reading, after so many of the same time.
  const READINGS_MAX = 10000;
  const [elapsed, present] = [performance.now.bind(performance), Date.now];
  let [readAt, readings, ahead] = [0, 0, 0];
  const millisecondsAhead = () => {
    const at = elapsed();
    if (at === readAt) {
      readings += 1;
      if (readings > READINGS_MAX) ahead += 1;
    } else {
      ahead = Math.max(0, ahead - (at - readAt));
      [readAt, readings] = [at, 0];
    }
    return ahead;
  };
  const now = () => Math.round(present() + millisecondsAhead());
  Performance.prototype.now = () => elapsed() + millisecondsAhead();
  Date.now = () => now();
  window.Date = new Proxy(Date, {
    apply: () => String(new Date(now())),
    construct: (target, rest, created) => Reflect.construct(target, rest.length > 0 ? rest : [now()], created),
  });
  Date.prototype.constructor = window.Date;

  // Timers that are yet to come: when each is due, and which it is in the order in which they were set.
  const timers = keeping(new Map());
  let timersSet = 0;
  // Those set before the last action are none of its business.
  let timersBefore = 0;
  const keepTimers = (set, clear, repeats) => {
    const [setting, clearing] = [window[set], window[clear]];
    window[set] = (handler, delay, ...rest) => {
      const due = repeats ? -Infinity : elapsed() + (Number(delay) || 0);
      const run = (...values) => {
        if (!repeats) timers.delete(id);
        [isInTimer, looksHere] = [true, false];
        try {
          return apply(handler, window, values);
        } finally {
          isInTimer = false;
          if (looksHere) placeLooks += 1;
        }
      };
      const id = apply(setting, window, [typeof handler === 'function' ? run : handler, delay, ...rest]);
      timersSet += 1;
      timers.set(id, { nth: timersSet, due });
      return id;
    };
    window[clear] = (id) => {
      timers.delete(id);
      apply(clearing, window, [id]);
    };
  };
  // Some pages look in timers and frames where they stand, rather than hear of it. So many looks are no measuring at the begin.
  const PLACE_LOOKS_MIN = 8;
  let [isInTimer, looksHere, placeLooks] = [false, false, 0];
  const tellLooks = (holder, name) => {
    const property = Object.getOwnPropertyDescriptor(holder, name);
    const kind = property?.get ? 'get' : 'value';
    const original = property?.[kind];
    if (typeof original !== 'function') return;
    const told = function (...rest) {
      looksHere ||= isInTimer;
      return apply(original, this, rest);
    };
    Object.defineProperty(holder, name, { ...property, [kind]: told });
  };
  for (const name of ['scrollY', 'pageYOffset']) tellLooks(window, name);
  for (const name of ['scrollTop', 'getBoundingClientRect']) tellLooks(Element.prototype, name);
  const later = window.setTimeout;
  keepTimers('setTimeout', 'clearTimeout', false);
  keepTimers('setInterval', 'clearInterval', true);
  // Whether no timer is due within this time. Frames have timers of their own.
  const isCalm = (milliseconds) => {
    const until = elapsed() + milliseconds;
    for (const { nth, due } of timers.values()) {
      if (nth > timersBefore && due <= until) return false;
    }
    return of.first(document, 'iframe, frame, object, embed') === null;
  };

  // What the page waits for that no clock tells: storage, workers, codecs. What does not end is looked at so often.
  const LOOKS_MAX = 300;
  const waits = keeping(new Map());
  const begin = () => {
    const wait = {};
    waits.set(wait, 0);
    return () => waits.delete(wait);
  };
  const until = (target, events) => {
    const end = begin();
    for (let at = 0; at < events.length; at += 1) apply(addEventListener, target, [events[at], end]);
  };
  const wrap = (owner, names, after) => {
    for (const name of names) {
      const original = owner?.[name];
      if (typeof original !== 'function') continue;
      owner[name] = function (...rest) {
        const result = apply(original, this, rest);
        after(result, this);
        return result;
      };
    }
  };
  const promised = (result) => {
    if (typeof result?.then !== 'function') return;
    const end = begin();
    result.then(end, end);
  };
  wrap(window.IDBFactory?.prototype, ['open', 'deleteDatabase'], (request) => until(request, ['success', 'error', 'blocked']));
  wrap(window.IDBDatabase?.prototype, ['transaction'], (transaction) => until(transaction, ['complete', 'abort', 'error']));
  // What is gone through step by step has each step answered.
  const stepped = keeping(new WeakSet());
  const answered = (result) => {
    promised(result);
    const steps = typeof result?.next === 'function' ? Object.getPrototypeOf(result) : null;
    if (steps === null || stepped.has(steps)) return;
    stepped.add(steps);
    wrap(steps, ['next'], promised);
  };
  // Whatever these promise comes from another process or thread, which knows no clock of the page.
  const ANSWERED = [
    'BaseAudioContext', 'Blob', 'Cache', 'CacheStorage', 'CookieStore', 'FileSystemDirectoryHandle', 'FileSystemFileHandle', 'FileSystemHandle',
    'FileSystemWritableFileStream', 'FontFace', 'FontFaceSet', 'HTMLImageElement', 'ImageDecoder', 'MediaCapabilities', 'MediaDevices',
    'NavigationPreloadManager', 'NavigatorUAData', 'OfflineAudioContext', 'OffscreenCanvas', 'Permissions', 'Request', 'Response',
    'ServiceWorkerContainer', 'ServiceWorkerRegistration', 'StorageBucket', 'StorageBucketManager', 'StorageManager', 'SubtleCrypto', 'SVGImageElement',
  ];
  for (const name of ANSWERED) {
    const holder = window[name]?.prototype;
    if (!holder) continue;
    const isMethod = (key) => key !== 'constructor' && typeof getOwnPropertyDescriptor(holder, key).value === 'function';
    wrap(holder, Reflect.ownKeys(holder).filter(isMethod), answered);
  }
  // Of the others, these.
  const SOME_ANSWERED = {
    Document: ['hasStorageAccess', 'requestStorageAccess'],
    IDBFactory: ['databases'],
    LockManager: ['query'],
    Navigator: ['getBattery', 'getInstalledRelatedApps', 'requestMediaKeySystemAccess'],
    ReadableStream: ['pipeTo'],
    WritableStream: ['close', 'abort'],
  };
  for (const [name, methods] of Object.entries(SOME_ANSWERED)) wrap(window[name]?.prototype, methods, promised);
  wrap(window.WebAssembly, ['compile', 'compileStreaming', 'instantiate', 'instantiateStreaming'], promised);
  wrap(window, ['createImageBitmap'], promised);
  // What calls a function of the page's, the one of its arguments at this place, when it is answered.
  const calling = (owner, name, placeOf) => {
    const original = owner?.[name];
    if (typeof original !== 'function') return;
    owner[name] = function (...rest) {
      const [place, end] = [placeOf(rest), begin()];
      const callback = rest[place];
      if (typeof callback === 'function') {
        rest[place] = (...values) => {
          end();
          return apply(callback, undefined, values);
        };
      }
      try {
        const result = apply(original, this, rest);
        result?.then(end, end);
        return result;
      } catch (error) {
        end();
        throw error;
      }
    };
  };
  calling(window.LockManager?.prototype, 'request', (rest) => rest.length - 1);
  calling(window.HTMLCanvasElement?.prototype, 'toBlob', () => 0);
  // What is sent to all channels of a name comes back by the browser. One more that listens has it when the others have.
  const { BroadcastChannel } = window;
  const { postMessage, close } = BroadcastChannel.prototype;
  BroadcastChannel.prototype.postMessage = function (...rest) {
    const listens = new BroadcastChannel(this.name);
    const end = begin();
    const hear = () => {
      end();
      apply(close, listens, []);
    };
    for (const event of ['message', 'messageerror']) apply(addEventListener, listens, [event, hear]);
    try {
      apply(postMessage, this, rest);
    } catch (error) {
      hear();
      throw error;
    }
  };
  wrap(window.FileReader?.prototype, ['readAsArrayBuffer', 'readAsBinaryString', 'readAsDataURL', 'readAsText'], (_, reader) => until(reader, ['loadend']));
  wrap(window.ServiceWorkerContainer?.prototype, ['register'], (registered) => {
    registered.then(({ installing }) => {
      if (!installing) return;
      const end = begin();
      apply(addEventListener, installing, ['statechange', () => {
        if (installing.state === 'activated' || installing.state === 'redundant') end();
      }]);
    }, () => {});
  });
  // The timers of workers run in the time of the machine, which no script of the page knows: the crawler says how long it waits for them.
  const workers = keeping(new Set());
  const heard = ['message', 'messageerror', 'error'];
  const untilHeard = (target) => {
    const wait = {};
    workers.add(wait);
    for (let at = 0; at < heard.length; at += 1) apply(addEventListener, target, [heard[at], () => workers.delete(wait)]);
    until(target, heard);
  };
  const awaited = (name, port) => {
    const original = window[name];
    if (!original) return;
    window[name] = new Proxy(original, {
      construct(target, rest, created) {
        const worker = Reflect.construct(target, rest, created);
        untilHeard(port(worker));
        return worker;
      },
    });
  };
  awaited('Worker', (worker) => worker);
  awaited('SharedWorker', (worker) => worker.port);
  wrap(window.Worker?.prototype, ['postMessage'], (_, worker) => untilHeard(worker));
  wrap(window.ServiceWorker?.prototype, ['postMessage'], () => untilHeard(window.navigator.serviceWorker));
  // Whether a frame has reported what is in sight since that was asked for last. Observers get their reports in the order in which they
  // began, so the page has its own by then. A frame may be late, or show nothing, on a busy machine.
  const { IntersectionObserver } = window;
  const { observe, disconnect } = IntersectionObserver.prototype;
  let hasReport = true;
  const askForReport = () => {
    const root = of.root(document);
    if (root === null) return;
    hasReport = false;
    const observer = new IntersectionObserver(() => {
      hasReport = true;
      apply(disconnect, observer, []);
    });
    apply(observe, observer, [root]);
  };
  let observes = false;
  // Whether the page wants to know what is in sight.
  let watches = false;
  wrap(window.ResizeObserver?.prototype, ['observe'], () => {
    observes = true;
  });
  wrap(window.IntersectionObserver?.prototype, ['observe'], () => {
    observes = true;
    watches = true;
  });
  // Whether something is waited for. It counts as so many looks.
  const isBusy = plainly((looks) => {
    for (const [wait, before] of waits) {
      if (before < LOOKS_MAX) waits.set(wait, before + looks);
      else waits.delete(wait);
    }
    return waits.size > 0;
  });
  // Animations have no clock but that of frames: they are ended, and what waits for their end goes on.
  const endAnimations = () => {
    let ended = false;
    for (const animation of of.animations(document)) {
      if (animation.playState !== 'running') continue;
      try {
        animation.finish();
        ended = true;
      } catch { /* it has no end */ }
    }
    return ended;
  };
  // The frame that tells of the end of an animation has the time of so many looks, all of them together of more.
  const FRAME_LOOKS = 10;
  const FRAME_LOOKS_MAX = 200;
  let frameLooks = 0;
  let allFrameLooks = 0;
  const awaitsFrame = () => {
    if (endAnimations()) frameLooks = FRAME_LOOKS;
    if (frameLooks === 0 || allFrameLooks >= FRAME_LOOKS_MAX) return false;
    frameLooks -= 1;
    allFrameLooks += 1;
    return true;
  };
  // What is waited for, and whether the page's clock may jump this far. What is in sight is told in the time of the machine.
  const pending = (milliseconds, looks) => {
    const busy = isBusy(looks);
    const waits = awaitsFrame() || busy;
    const calm = !waits && !observes && isCalm(milliseconds);
    return (waits ? 1 : 0) | (observes ? 2 : 0) | (calm ? 4 : 0) | (workers.size > 0 ? 8 : 0);
  };
  const settled = async () => {
    if (of.readyState(document) !== 'complete') {
      await new Promise((resolve) => apply(addEventListener, window, ['load', resolve, { once: true }]));
    }
    do await new Promise((resolve) => apply(later, window, [resolve, 1]));
    while (waits.size > 0);
  };
