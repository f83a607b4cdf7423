import type { Socket } from 'node:net';
import { scriptedImap } from './imap-script.ts';

/** The message that all folders are full of. */
export const MESSAGE = 'From: a@box.test\r\n\r\nHello\r\n';

/**
 * Answers one command; false: as a healthy server. `answer` gives the answer of a healthy server, now or later.
 */
type Disturb = (command: string, socket: Socket, tag: string, answer: () => void) => boolean;

/** A server with folders of so many messages each, whose UIDs are their numbers. */
export function scriptedFolders(
  folders: Readonly<Record<string, number>>,
  disturb: Disturb = () => false,
): Promise<AsyncDisposable & { port: number }> {
  const open = new WeakMap<Socket, number>();
  const answer = (command: string, socket: Socket): void => {
    if (/^LIST .*\*/.test(command)) for (const name of Object.keys(folders)) socket.write(`* LIST () "/" ${name}\r\n`);
    const [, listed = ''] = /^LIST "" "?([^"*]+)"?$/.exec(command) ?? [];
    if (listed in folders) socket.write(`* LIST () "/" ${listed}\r\n`);
    const [, counted = ''] = /^STATUS "?([^" ]+)"? \(/.exec(command) ?? [];
    if (counted in folders) socket.write(`* STATUS ${counted} (MESSAGES ${folders[counted]})\r\n`);
    const [, name = ''] = /^EXAMINE "?([^"]*)"?$/.exec(command) ?? [];
    if (name !== '') {
      open.set(socket, folders[name] ?? 0);
      socket.write(`* ${folders[name]} EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n`);
    }
    const [, range = ''] = /FETCH (\S+) /.exec(command) ?? [];
    const uids = range === '' ? [] : sequenceNumbers(range, open.get(socket) ?? 0);
    const source = command.startsWith('UID') ? `BODY[] {${MESSAGE.length}}\r\n${MESSAGE}` : 'FLAGS (a)';
    socket.write(uids.map((uid) => `* ${uid} FETCH (UID ${uid} RFC822.SIZE ${MESSAGE.length} ${source})\r\n`).join(''));
  };
  return scriptedImap((command, socket, tag) => {
    const later = (): void => {
      answer(command, socket);
      socket.write(`${tag} OK done\r\n`);
    };
    if (disturb(command, socket, tag, later)) return true;
    answer(command, socket);
    return false;
  });
}

/** The numbers of a sequence set, up to the highest of a folder. */
export function sequenceNumbers(ranges: string, most: number): number[] {
  return ranges.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split(':').map(Number);
    return Array.from({ length: Math.min(to, most) - from + 1 }, (_, at) => from + at);
  });
}
