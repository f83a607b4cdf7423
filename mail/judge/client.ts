import type { Meter } from '../log.ts';
import type { LessonSource } from '../store/lesson-words.ts';
import { type Arriving, type Judge, JudgeAway, type Judgement } from './judging.ts';
import { Aside } from './aside.ts';
import type { Found, FromJudge, Question } from './messages.ts';
import { Places } from './places.ts';
import { Suspects } from './suspects.ts';
import { unchecked } from './unchecked.ts';
import { type End, JudgeWorker, type JudgeWorkerOptions } from './worker.ts';

/** A message without an answer for so long comes again. */
const PATIENCE_MS = 30_000;
/** After so long without an answer something in the thread was lost, and its place with it. */
const LOST_MS = 300_000;
const LOOK_EVERY_MS = 500;
/** From the start of a thread to that of the next: one that dies at once, each time, must not cost the box a processor. */
const REST_MS = 1_000;
/** What is said of the message over which a thread ended. */
const GUILTY: Readonly<Record<End, string>> = {
  loop: 'the checks of a message did not end, it is Junk',
  memory: 'the checks of a message took all memory, it is Junk',
  crash: 'the checks of a message ended the judge, it is told to come again',
  silence: 'the checks of a message waited for what did not come, it is told to come again',
};

interface Waiting {
  question: Question;
  /** The thread has begun with it. */
  begun: boolean;
  resolve: (value: Found) => void;
  reject: (error: Error) => void;
  since: number;
  /** Nobody waits for the answer any more. */
  given: boolean;
  /** The thread is done with it. */
  done: () => void;
}

export interface JudgeClientOptions extends JudgeWorkerOptions {
  meter: Meter;
  /** ms. */
  patienceMs?: number;
  restMs?: number;
  /** One question at a time, whatever its size: what happens is its doing. */
  alone?: boolean;
  /** Whose mail is not looked at any more. */
  suspects?: Suspects;
}

/** The main thread's end of the judge, whose thread starts with the first message. */
export class JudgeClient implements Judge, AsyncDisposable {
  readonly #options: JudgeClientOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #places: Places;
  readonly #suspects: Suspects;
  readonly #aside: Aside;
  #watch: NodeJS.Timeout | undefined;
  #worker: JudgeWorker | undefined;
  #startedAt = -Infinity;
  #resting: NodeJS.Timeout | undefined;
  #id = 0;
  #closed = false;

  constructor(options: JudgeClientOptions) {
    this.#options = options;
    this.#places = new Places(options.alone === true);
    const suspects = (this.#suspects = options.suspects ?? new Suspects());
    this.#aside = new Aside(() => new JudgeClient({ ...options, alone: true, suspects }));
  }

  judge(mail: Arriving): Promise<Judgement> {
    const began = performance.now();
    const judged = this.ask({ kind: 'judge', mail }) as Promise<Judgement>;
    return judged.finally(() => this.#options.meter.observe('judge_seconds', (performance.now() - began) / 1000));
  }

  /** The words of a stored message, to learn from. */
  words(source: LessonSource): Promise<number[]> {
    return this.ask({ kind: 'words', source }) as Promise<number[]>;
  }

  /** What is found out of a message; of one that the checks cannot cope with, that they cannot. */
  async ask(question: Question): Promise<Found> {
    const refusal = this.#refusalOf(question);
    if (refusal !== undefined) throw refusal;
    const done = await this.#places.take(question);
    // Closed while it stood in line: no thread may start any more, and nothing would end one.
    if (this.#closed) {
      done();
      throw closed();
    }
    return new Promise((resolve, reject) => {
      this.#send({ question, resolve, reject, since: performance.now(), given: false, begun: false, done });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#resting);
    await this.#aside[Symbol.asyncDispose]();
    await this.#worker?.close();
    this.#refuseAll();
  }

  #refusalOf(question: Question): JudgeAway | undefined {
    if (this.#closed) return closed();
    if (question.kind === 'words' || !this.#suspects.isShutOut(question.mail.peer.ip, performance.now()))
      return undefined;
    return new JudgeAway('the judge failed again and again over mail of this network');
  }

  #send(waiting: Waiting): void {
    const id = ++this.#id;
    this.#waiting.set(id, waiting);
    this.#watch ??= setInterval(() => this.#look(), Math.min(LOOK_EVERY_MS, this.#patienceMs / 2));
    if (this.#worker === undefined) this.#startSoon();
    else this.#post(this.#worker, id, waiting);
  }

  #post(worker: JudgeWorker, id: number, { question, given }: Waiting): void {
    // Others of its network may have been found guilty while it waited.
    const refusal = this.#refusalOf(question);
    if (refusal !== undefined) this.#take(id)?.reject(refusal);
    // Of what was given up the octets may be gone.
    else if (given) this.#take(id);
    else worker.post({ id, ...question });
  }

  get #patienceMs(): number {
    return this.#options.patienceMs ?? PATIENCE_MS;
  }

  /** A message that takes long fails alone; a thread that is in a loop holds all others up as well. */
  #look(): void {
    const now = performance.now();
    const all = [...this.#waiting.values()];
    if (all.some(({ since }) => now - since > LOST_MS)) this.#worker?.end('silence');
    else this.#worker?.look(now);
    for (const one of all) {
      if (one.given || now - one.since < this.#patienceMs) continue;
      one.given = true;
      one.reject(new Error('the judge of incoming mail did not answer in time'));
    }
  }

  #startSoon(): void {
    const rest = this.#startedAt + (this.#options.restMs ?? REST_MS) - performance.now();
    if (rest <= 0) return this.#start();
    this.#resting ??= setTimeout(() => {
      this.#resting = undefined;
      this.#start();
    }, rest);
  }

  /** A new thread, with all that waits for one. */
  #start(): void {
    this.#startedAt = performance.now();
    try {
      const worker = (this.#worker = this.#open());
      for (const [id, one] of this.#waiting) this.#post(worker, id, one);
    } catch (error) {
      // Out of threads or memory: thrown on, by the timer that starts threads, it would end the process.
      this.#options.log.error({ err: error }, 'no thread could be had to judge mail, it is told to come again');
      this.#refuseAll();
    }
  }

  #open(): JudgeWorker {
    const worker: JudgeWorker = new JudgeWorker(this.#options, {
      heard: (message) => this.#heard(message),
      ended: (why) => this.#ended(worker, why),
    });
    return worker;
  }

  /**
   * What was not begun with goes to the next thread. Of what was, that is guilty which alone was in a loop, or was all that
   * its thread ever had; else nobody knows which one it was, and each is asked about again, alone, while mail goes on here.
   */
  #ended({ begun }: JudgeWorker, why: End): void {
    this.#worker = undefined;
    if (why === 'loop') this.#options.meter.count('judge_loops_total');
    // It cannot even begin, nor would the next one.
    if (this.#closed || begun === 0) return this.#refuseAll();
    const there = [...this.#waiting].filter(([, one]) => one.begun);
    const isKnown = there.length === 1 && (why === 'loop' || begun === 1);
    for (const [id, one] of there) {
      // Others were in its thread before it, and one of them may have left this behind: the next one has it first.
      if (this.#options.alone === true && !isKnown) {
        one.begun = false;
        continue;
      }
      this.#take(id);
      if (isKnown) this.#giveUp(one, why);
      else this.#askAside(one);
    }
    if (this.#waiting.size > 0) this.#startSoon();
  }

  #askAside({ question, given, resolve, reject }: Waiting): void {
    // Its octets may be gone.
    if (!given) this.#aside.ask(question).then(resolve, reject);
  }

  /**
   * Checks without end, or without measure, are a defect of ours, and the message is kept. What an error ended may be a
   * trouble of the box, and all mail would be junk: it comes again.
   */
  #giveUp({ question, resolve, reject }: Waiting, why: End): void {
    if (question.kind === 'words') return reject(new Error('the judge of incoming mail ended over a lesson'));
    const { mail } = question;
    const { trace, peer, size } = mail;
    this.#suspects.note(peer.ip, performance.now());
    this.#options.log.error({ message: trace, ip: peer.ip, size }, GUILTY[why]);
    if (why === 'loop' || why === 'memory') resolve(unchecked(mail));
    else reject(new Error('the judge of incoming mail ended'));
  }

  #refuseAll(): void {
    for (const id of this.#waiting.keys()) this.#take(id)?.reject(new JudgeAway('the judge of incoming mail ended'));
  }

  #heard(message: FromJudge): void {
    const { log, meter } = this.#options;
    if (message.kind === 'works') return;
    if (message.kind === 'begun') {
      const waiting = this.#waiting.get(message.id);
      if (waiting !== undefined) waiting.begun = true;
      return;
    }
    if (message.kind === 'said') return log[message.level](message.fields, message.text);
    if (message.kind === 'counted') return meter.count(message.name, message.labels);
    const waiting = this.#take(message.id);
    if (message.kind === 'answer') waiting?.resolve(message.value);
    else waiting?.reject(Object.assign(new Error(message.message), { stack: message.stack }));
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (this.#waiting.delete(id) && this.#waiting.size === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
    waiting?.done();
    return waiting;
  }
}

function closed(): JudgeAway {
  return new JudgeAway('the judge of incoming mail is not there at the moment');
}
