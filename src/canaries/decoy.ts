import { randomBytes, randomInt } from 'node:crypto';
import type { Address } from '../../mail/message/address.ts';
import { composeTextMessage } from '../../mail/message/compose-text.ts';

/** Topics of a decoy: the message of a canary. */
export const DECOY_TOPICS = ['console', 'payments', 'recovery'] as const;
export type DecoyTopic = (typeof DECOY_TOPICS)[number];

const DAY_MS = 24 * 3_600_000;

export interface DecoyContext {
  /** Owner of the mailbox, the apparent sender and recipient. */
  owner: Address;
  honeytoken: string;
  /** The address of the canary. */
  login: string;
  /** ms UTC. */
  now: number;
}

/**
 * Composes a message that looks like a private note. Its topic is in the first lines, which lists show; the secret is behind
 * them, where only a reader that opens it gets.
 */
export function composeDecoy(
  topic: DecoyTopic,
  { owner, honeytoken, login, now }: DecoyContext,
): { data: Buffer; receivedAt: number } {
  const receivedAt = now - randomInt(3 * DAY_MS, 90 * DAY_MS);
  const { subject, before, behind } = TEXTS[topic];
  const data = composeTextMessage({
    from: { address: owner },
    to: [{ address: owner }],
    subject,
    date: receivedAt,
    messageId: `<${randomBytes(16).toString('hex')}@${owner.domain}>`,
    text: [...before, '', `login: ${login}`, `${behind}: ${honeytoken}`, ''].join('\r\n'),
  });
  return { data, receivedAt };
}

/** Names the secret: a password or a key. */
export const secretKind = (topic: DecoyTopic): 'password' | 'key' => (topic === 'payments' ? 'key' : 'password');

const TEXTS: Record<DecoyTopic, { subject: string; before: readonly string[]; behind: string }> = {
  console: {
    subject: 'Note: emergency access to the admin console',
    before: [
      'Keeping this here until it is in the password manager.',
      '',
      'This is the emergency account for the admin console, for the day when',
      'single sign-on is down and nobody else can be reached. It skips the second',
      'factor, so it must not be used for daily work and must not be passed on.',
      'Rotate it after each use and write down who used it and when.',
    ],
    behind: 'password',
  },
  payments: {
    subject: 'Note: live key of the payment account',
    before: [
      'Put aside while we move the shop to the new server.',
      '',
      'This is the live key of the payment account, not the one for tests. It can',
      'refund and pay out without a further question. The new server reads it from',
      'its own store, so nothing but this note has it in clear. Delete this note',
      'as soon as the move is done and the old key has been rolled.',
    ],
    behind: 'secret key',
  },
  recovery: {
    subject: 'Note: recovery of the cloud backup',
    before: [
      'In case the laptop is lost and the backup has to be restored elsewhere.',
      '',
      'The backup is encrypted, and without the phrase below nobody can open it,',
      'the provider neither. Sign in with the account below, choose to restore on',
      'a new device, and give the phrase when it asks for it. It takes about a day',
      'until everything is back. Print this once and then delete it from here.',
    ],
    behind: 'recovery phrase',
  },
};
