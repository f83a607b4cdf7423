import { expect, test } from 'vitest';
import {
  nextStepAfter,
  type DeliveryState,
  testOutcomeOf,
  testOutcomeSoFar,
} from '../../../src/deliverability/verdict.ts';

const BEGUN: DeliveryState = {
  events: ['accepted', 'queued'],
  waiting: [0],
  here: false,
  whole: false,
  cancelled: false,
};

test.each<[string, Partial<DeliveryState>, string | undefined, string]>([
  ['is being tried', {}, undefined, 'queued'],
  ['was taken', { events: ['queued', 'delivered'], waiting: [] }, 'delivered', 'delivered'],
  ['was taken after a delay', { events: ['deferred', 'delivered'], waiting: [] }, 'delivered', 'delivered'],
  ['was put off', { events: ['queued', 'deferred', 'queued'] }, 'queued', 'queued'],
  ['was refused', { events: ['queued', 'bounced'], waiting: [] }, 'refused', 'refused'],
  ['was taken, and a bounce came', { events: ['delivered', 'bounced'], waiting: [] }, 'refused', 'refused'],
  ['is held in the queue', { waiting: [1] }, 'waiting', 'waiting'],
  ['waits for a person', { whole: true, waiting: [] }, 'waiting', 'waiting'],
  ['was let go by a person', { whole: true }, undefined, 'queued'],
  ['was denied by one', { whole: true, waiting: [], cancelled: true }, 'refused', 'refused'],
  ['is here, and whose forward bounced', { here: true, events: ['bounced'] }, 'delivered', 'delivered'],
  ['was taken out of the queue', { waiting: [] }, undefined, 'refused'],
])('a test that %s', (_what, state, known, inTheEnd) => {
  const all = { ...BEGUN, ...state };
  expect([testOutcomeOf(all), testOutcomeSoFar(all)]).toEqual([known, inTheEnd]);
});

test('what to do names the page of the person, and says that nothing new was sent', () => {
  const plain = { approveUrl: null, repeated: false };
  expect(nextStepAfter('waiting', { ...plain, approveUrl: 'https://box/approve' })).toContain('https://box/approve');
  expect(nextStepAfter('delivered', { ...plain, repeated: true })).toContain('allowDuplicate');
  expect(nextStepAfter('delivered', plain)).not.toContain('allowDuplicate');
});
