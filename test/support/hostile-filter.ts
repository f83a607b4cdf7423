import { setTimeout as sleep } from 'node:timers/promises';
import { UNAVAILABLE_AUTHENTICATION } from '../../mail/auth/authenticate.ts';
import type { MailFilter, FilterResult } from '../../mail/filter/mail-filter.ts';
import { heartbeat, runFilterThread } from '../../mail/filter/thread.ts';

// A filter thread in which the sender of a message selects how the thread fails.
const FILTERED: FilterResult = {
  authentication: UNAVAILABLE_AUTHENTICATION,
  author: { kind: 'pass', why: '' },
  findings: [],
  senders: [],
  accounts: [],
};

/** Those that wait for silent name servers stop waiting together. */
let combined: Promise<void> | undefined;

const classifier: MailFilter = {
  async filter({ sender }) {
    if (sender === 'exit') process.exit(1);
    if (sender === 'fill') fill();
    if (sender === 'throw') failIn(20);
    // Has its answer by then.
    if (sender === 'stray') failIn(150);
    if (sender === 'together') {
      await (combined ??= sleep(300));
      heartbeat();
      busy(40);
    }
    await sleep(sender === 'long' ? 400 : sender === 'quick' ? 0 : 100);
    return FILTERED;
  },
};

function fill(): never {
  const piece = Array.from({ length: 100_000 }, (_, at) => at);
  const all: unknown[] = [];
  for (;;) all.push([...piece]);
}

function busy(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

function failIn(ms: number): void {
  setTimeout(() => {
    throw new Error('a defect');
  }, ms);
}

runFilterThread(classifier, () => undefined);
