import type { Readable } from 'node:stream';

/** So many characters in so many milliseconds are read from one stream; then whoever writes has to wait. */
const MOST = 128 * 1024;
const EVERY_MS = 250;

/**
 * Hands on what a stream says, line by line, a batch at a time. Longer lines come in pieces, and nobody who writes
 * without end gets more than a part of this process's time, or of its memory.
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
    }, EVERY_MS).unref();
    if (read > MOST) stream.pause();
  });
  stream.on('error', () => undefined);
  stream.on('close', () => {
    clearTimeout(timer);
    if (rest !== '') take([rest]);
  });
}
