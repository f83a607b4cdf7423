import { setTimeout as sleep } from 'node:timers/promises';
import { UNKNOWN } from '../../mail/auth/authenticate.ts';
import type { Judge, Judgement } from '../../mail/judge/judging.ts';
import { fromThread, runJudgeThread } from '../../mail/judge/thread.ts';

// A thread of the judge in which the sender of a message says what becomes of the thread.
const JUDGED: Judgement = {
  authentication: UNKNOWN,
  author: { kind: 'pass', why: '' },
  findings: [],
  senders: [],
  accounts: [],
};

const voice = fromThread();
/** Those that wait for silent name servers stop waiting together. */
let together: Promise<void> | undefined;

const judge: Judge = {
  async judge({ sender }) {
    if (sender === 'exit') process.exit(1);
    if (sender === 'fill') fill();
    if (sender === 'throw') failIn(20);
    // Has its answer by then.
    if (sender === 'stray') failIn(150);
    if (sender === 'together') {
      await (together ??= sleep(300));
      voice.alive();
      busy(40);
    }
    await sleep(sender === 'long' ? 400 : sender === 'quick' ? 0 : 100);
    return JUDGED;
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

runJudgeThread(judge, () => undefined);
