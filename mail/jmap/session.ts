import { createHash } from 'node:crypto';
import type { JmapSession } from './method.ts';

/** Changes whenever what the session object says changes. RFC 8620 2. */
export function sessionState(session: JmapSession): string {
  const facts = [
    session.username,
    ...[...session.accounts].flatMap(([id, one]) => [id, one.address, one.readOnly, one.mayTransmit]),
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 16);
}
