import type { KeyObject } from 'node:crypto';
import type { AnswerDesk } from '../delivery/answers.ts';
import type { Policy } from '../delivery/policy.ts';
import type { Judge } from '../judge/judging.ts';
import type { Log, Meter } from '../log.ts';
import type { Allowance } from '../store/allowance.ts';
import type { Budget } from '../store/budget.ts';
import type { MailStore } from '../store/store.ts';
import type { Greylist } from './greylist.ts';
import type { SlowAnswers } from './slow-answers.ts';
import type { ReportPace } from './report-pace.ts';

export interface StoreIntakeOptions {
  store: MailStore;
  /** Our own name. */
  hostname: string;
  /** Why mail for elsewhere may not go out now; null lets it go. */
  hold: string | null;
  /** For whom an account sends, and how much that may be; null and left out: no limit. */
  senderOf(account: number): Promise<{ tenant: number; allowance: Allowance | null; budgets?: readonly Budget[] }>;
  /** May hold or refuse what an account sends; left out: nothing of it. */
  policy?: Policy;
  /** Of the box: rewritten senders and markers of what it forwards. */
  forwardKey: Buffer;
  /** Of the box: the senders under which single copies leave. */
  reportKey: KeyObject;
  /** Reads answers to letters of the box; left out: nobody does. */
  answers?: AnswerDesk;
  /** Finds out about mail from outside; null: nobody is asked, and all of it is taken. */
  judging: Judging | null;
  /** Left out: strangers need not come again. */
  greylist?: Greylist;
  log: Log;
  meter: Meter;
  /** Something was queued: the relay may look. */
  queued(): void;
  clock: () => number;
}

export interface Judging {
  judge: Judge;
  /** All mail is judged; else only its author, and only where we would vouch for it by passing it on. */
  checks: boolean;
  /** The network may be asked who wrote it; not in local mode. */
  network: boolean;
  /** Whether the answer to a stranger at this address may be held back. */
  slows(ip: string): boolean;
}

/** What the messages of one intake share. */
export interface IntakeDesk {
  readonly options: StoreIntakeOptions;
  /** Reports that nobody can match, by account. */
  readonly unasked: ReportPace;
  /** Answers to strangers that are held back. */
  readonly slow: SlowAnswers;
  /** Reports that go back to an author elsewhere, by address. */
  readonly returned: ReportPace<string>;
}
