import type { Readable } from 'node:stream';

/** Characters read from one stream per interval; then its writer has to wait. */
const MAX_CHARACTERS = 128 * 1024;
const INTERVAL_MS = 250;

/**
 * Passes on a stream's lines in batches. Longer lines are split, and a program that writes without end gets a limited share of
 * CPU and memory.
 */
export function onLines(stream: Readable, longest: number, take: (lines: string[]) => void): void {
  let rest = '';
  let read = 0;
  let timer: NodeJS.Timeout | undefined;
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? '';
    if (rest.length > longest) {
      lines.push(rest);
      rest = '';
    }
    if (lines.length > 0) take(lines);
    read += text.length;
    timer ??= setTimeout(() => {
      timer = undefined;
      read = 0;
      stream.resume();
    }, INTERVAL_MS).unref();
    if (read > MAX_CHARACTERS) stream.pause();
  });
  stream.on('error', () => undefined);
  stream.on('close', () => {
    clearTimeout(timer);
    if (rest !== '') take([rest]);
  });
}
