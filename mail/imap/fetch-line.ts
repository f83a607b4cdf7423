import type { EnabledExtensions } from './enabled.ts';

/** Begin of a FETCH response: `* 3 FETCH (`, or `* 7 UIDFETCH (` for a client without sequence numbers. RFC 9586 3.3. */
export function fetchHead(sequence: number, uid: number, enabled: EnabledExtensions): string {
  return enabled.has('UIDONLY') ? `* ${uid} UIDFETCH (` : `* ${sequence} FETCH (`;
}

/** `* 3 FETCH (UID 7 FLAGS (\Seen) MODSEQ (12))` and CRLF. `flags` undefined: only MODSEQ. */
export function changeLine(
  message: { sequence: number; uid: number; flags: string | undefined; modseq: number },
  enabled: EnabledExtensions,
): string {
  const { sequence, uid, flags, modseq } = message;
  const items = [
    ...(enabled.has('UIDONLY') ? [] : [`UID ${uid}`]),
    ...(flags === undefined ? [] : [`FLAGS ${flags}`]),
    ...(enabled.has('CONDSTORE') ? [`MODSEQ (${modseq})`] : []),
  ];
  return `${fetchHead(sequence, uid, enabled)}${items.join(' ')})\r\n`;
}
