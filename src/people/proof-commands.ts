import { type Outgoing, send } from '../../mail/delivery/submit.ts';
import { command } from '../../mail/store/engine/types.ts';
import { takeHit } from '../bootstrap/hits-commands.ts';
import { insertLink } from './commands.ts';
import { type DeadLink, linkOf } from './link-queries.ts';

const DAY = 86_400_000;

/** Mails a person a link that proves their address: link and letter in one commit. */
export const requestProof = command(
  'request-proof',
  async (
    tx,
    input: {
      user: number;
      email: string;
      hash: Uint8Array;
      letter: Outgoing;
      /** Hash of the address without its +tag. */
      base: string;
    },
    stamp,
  ): Promise<{ kind: 'sent' | 'limited' }> => {
    const wait = await takeHit(tx, { counter: 'proof-mail', subject: input.base, most: 5, windowMs: DAY }, stamp);
    if (wait > 0) return { kind: 'limited' };
    const { user, email, hash } = input;
    const link = { purpose: 'prove' as const, organization: null, user, email, role: null, mailed: true, hash };
    await insertLink(tx, { ...link, expiresAt: stamp.now + DAY }, stamp);
    await send(tx, input.letter, stamp);
    return { kind: 'sent' };
  },
);

/**
 * Opens such a link, once, for the person who asked for it. Who only reads the mail proves nothing for somebody else's
 * account: else a mistyped address would hand it over, as its password could then be replaced by mail.
 */
export const proveAddress = command(
  'prove-address',
  async (
    tx,
    input: { hash: Uint8Array; user: number },
    stamp,
  ): Promise<{ kind: 'proven' | 'somebody-else' | DeadLink }> => {
    const link = await linkOf(tx, { purpose: 'prove', hash: input.hash }, stamp.now);
    if (typeof link === 'string') return { kind: link };
    if (link.user !== input.user) return { kind: 'somebody-else' };
    await tx.run('UPDATE link SET used_at = ? WHERE id = ?', stamp.now, link.id);
    await tx.run(
      'UPDATE user SET address_proven_at = coalesce(address_proven_at, ?) WHERE id = ?',
      stamp.now,
      input.user,
    );
    return { kind: 'proven' };
  },
);
