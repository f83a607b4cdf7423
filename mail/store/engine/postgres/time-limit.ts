/** Result of connecting; rejects after `limit` ms, and as soon as `stop` is aborted. */
export async function limited<T>(connecting: Promise<T>, limit: number, stop?: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new ConnectTimeout()), limit);
  const stopped = (): void => late.reject(stop?.reason as Error);
  stop?.addEventListener('abort', stopped);
  try {
    return await Promise.race([connecting, late.promise]);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener('abort', stopped);
  }
}

/** Its code makes it a lost connection, so that it is tried again. */
export class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT';
  constructor() {
    super('the database did not answer while connecting');
  }
}
