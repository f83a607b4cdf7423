/** Result of a request for a file. */
const FETCHED = 1;
const MISSING = 2;
const UNAVAILABLE = 3;

/** A thread that cannot wait for a promise asks the main thread for a file in the bucket, and blocks until `done`. */
export interface BlobRequest {
  kind: 'blob';
  file: string;
  done: SharedArrayBuffer;
}

/** A thread is ended when it is silent for 30 s. */
const PATIENCE_MS = 20_000;

/** A file in a bucket that does not answer: the work is to be repeated later. */
export class BlobUnavailable extends Error {
  override readonly name = 'BlobUnavailable';
  readonly code = 'EAGAIN';
}

type Ask = (request: BlobRequest) => void;
let ask: Ask | undefined;

/** Names the port of this thread for files that are in a bucket. A thread has one. */
export function askForBlobs(post: Ask): void {
  ask = post;
}

/** Has a file fetched into the cache. Blocks. False: there is none. Throws {@link BlobUnavailable}. */
export function fetchBlob(file: string): boolean {
  if (ask === undefined) return false;
  const done = new Int32Array(new SharedArrayBuffer(4));
  ask({ kind: 'blob', file, done: done.buffer });
  Atomics.wait(done, 0, 0, 2 * PATIENCE_MS);
  const result = Atomics.load(done, 0);
  if (result === FETCHED || result === MISSING) return result === FETCHED;
  throw new BlobUnavailable('the storage of large messages is unavailable');
}

/** Finds a file for a thread: fetches it if it is in a bucket. */
export type BlobProvider = (file: string) => Promise<boolean>;

/** Answers a request of a thread. What takes longer than its patience is there for the next request. */
export async function answerBlobRequest({ file, done }: BlobRequest, provide: BlobProvider): Promise<void> {
  const timeout = Promise.withResolvers<number>();
  const timer = setTimeout(() => timeout.resolve(UNAVAILABLE), PATIENCE_MS);
  const found = provide(file).then(
    (isThere) => (isThere ? FETCHED : MISSING),
    () => UNAVAILABLE,
  );
  const result = await Promise.race([found, timeout.promise]);
  clearTimeout(timer);
  const state = new Int32Array(done);
  Atomics.store(state, 0, result);
  Atomics.notify(state, 0);
}
