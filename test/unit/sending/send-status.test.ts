import { expect, test } from 'vitest';
import type { OutboxItem, OutboxState } from '../../../mail/delivery/outbox-items.ts';
import { RefusedError } from '../../../src/core/refusal.ts';
import { currentStatus, withStatus } from '../../../src/sending/send-status.ts';
import type { SentEmail } from '../../../src/sending/sent-queries.ts';

const NOW = 1000;
const sent: SentEmail = {
  id: 3,
  trace: 't',
  messageId: '<m@x.test>',
  sender: 'me@x.test',
  recipients: [
    { address: 'a@y.test', state: 'held' },
    { address: 'b@y.test', state: 'suppressed' },
  ],
  subject: 's',
  tags: {},
  metadata: {},
  sha256: '',
  createdAt: 1,
  scheduledAt: null,
  cancelledAt: null,
  heldBecause: 'a person looks first',
  reasons: ['a person looks first'],
  outbox: 7,
};
const item = (state: OutboxState, dueAt: number | null = null): OutboxItem => ({
  id: 7,
  trace: 't',
  account: 1,
  sender: 'me@x.test',
  recipients: ['a@y.test'],
  approval: null,
  state,
  heldBecause: null,
  dueAt,
  createdAt: 1,
});
const stands = (of: SentEmail, now: OutboxItem | undefined): string => {
  try {
    return currentStatus(of, now, NOW);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const { error: code, state, outboxId, duplicateOf } = error.refusal;
    return [code, state, outboxId, duplicateOf].join(' ');
  }
};

test.each([
  ['a person has not looked yet', {}, item('pending', 5), 'pending_approval'],
  ['a person let it go', {}, item('approved'), 'queued'],
  ['a person let it go, for later', {}, item('approved', NOW + 1), 'scheduled'],
  ['its time has come', { heldBecause: null, scheduledAt: 5 }, item('scheduled', NOW), 'queued'],
  ['its time is still to come', { heldBecause: null, scheduledAt: 5 }, item('scheduled', NOW + 1), 'scheduled'],
  ['it has left, and the outbox has forgotten it', {}, undefined, 'queued'],
  ['it was taken back', { cancelledAt: 9 }, undefined, 'conflict withdrawn out_7 eml_3'],
  ['denied by a person', {}, item('denied'), 'conflict denied out_7 eml_3'],
  ['nobody looked in time', {}, item('expired'), 'conflict expired out_7 eml_3'],
  ['it never waited', { heldBecause: null, outbox: null }, undefined, 'queued'],
])('a repeated request is informed how it stands: %s', (_when, over, now, said) => {
  expect(stands({ ...sent, ...over }, now)).toBe(said);
});

test('a sent message has no hold reasons', () => {
  expect(withStatus(sent, 'queued')).toMatchObject({
    reasons: [],
    recipients: [{ state: 'queued' }, { state: 'suppressed' }],
  });
  expect(withStatus(sent, 'pending_approval')).toBe(sent);
});
