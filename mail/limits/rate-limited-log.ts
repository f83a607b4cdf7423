import type { Log } from '../log.ts';

/** Lines of one text in a minute. */
const LINES_PER_MINUTE = 600;
const MINUTE_MS = 60_000;

/**
 * Wraps a log for events that any client can cause: writes 600 info lines of one text a minute, then the number of omitted
 * lines. Warnings and errors are not limited.
 */
export function rateLimitedLog(log: Log): Log {
  /** Lines of this minute by text; bounded by the texts in the code. */
  const counts = new Map<string, number>();
  const writeRest = (): void => {
    for (const [text, count] of counts) {
      if (count > LINES_PER_MINUTE) log.info({ like: text, count: count - LINES_PER_MINUTE }, 'log lines omitted');
    }
    counts.clear();
  };
  return {
    debug: (fields, text) => log.debug(fields, text),
    info(fields, text) {
      if (counts.size === 0) setTimeout(writeRest, MINUTE_MS).unref();
      const count = (counts.get(text) ?? 0) + 1;
      counts.set(text, count);
      if (count <= LINES_PER_MINUTE) log.info(fields, text);
    },
    warn: (fields, text) => log.warn(fields, text),
    error: (fields, text) => log.error(fields, text),
  };
}
