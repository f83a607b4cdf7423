import type { KeyObject } from 'node:crypto';
import type { Answer, AnswerDesk } from '../../mail/delivery/answers.ts';
import type { Outgoing } from '../../mail/delivery/submit.ts';
import { writtenByProgram } from '../../mail/forwarder/guard.ts';
import type { Log, Meter } from '../../mail/log.ts';
import type { Address } from '../../mail/message/address.ts';
import { readFields } from '../../mail/message/header.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import { endAgentLogins, type Revoke } from '../agents/agent-logins.ts';
import { letterOwners } from '../letters/owners.ts';
import type { TextReader } from '../reading/apart/text-reader.ts';
import { answeredLetter, answerKey, isOpen } from './answer-address.ts';
import { type AnswerLetterFor, stoppedBeforeLetter, stoppedLetter, unclearLetter } from './answer-letters.ts';
import { type AnsweredLetter, answerOnce, stopByAnswer } from './commands.ts';
import type { DigestPost } from './letter.ts';
import { answeringOwner } from './owner-queries.ts';

export type LetterAnswersOptions = DigestPost & {
  /** A letter was queued. */
  queued: () => void;
  revoked: Revoke;
  texts: TextReader;
  log: Log;
  metrics: Meter;
};

type Outcome = 'stopped' | 'before' | 'unclear' | 'automatic' | 'missing';

/**
 * Answers of owners to their daily letter. Whoever knows its address may say STOP, and nothing else: an agent that reads
 * its owner's mail can stop itself, and start nobody.
 */
export class LetterAnswers implements AnswerDesk {
  readonly #options: LetterAnswersOptions;
  readonly #key: KeyObject;

  constructor(options: LetterAnswersOptions) {
    this.#options = options;
    this.#key = answerKey(options.secrets);
  }

  meant(to: Address): 'answer' | 'over' | undefined {
    const letter = this.#letter(to);
    if (letter === undefined) return undefined;
    return isOpen(letter, this.#options.clock()) ? 'answer' : 'over';
  }

  async take(answer: Answer): Promise<void> {
    const { log, metrics } = this.#options;
    const letter = this.#letter(answer.to);
    if (letter === undefined) return;
    const outcome = await this.#heed(letter, answer);
    const { organization, user } = letter;
    metrics.count('letter_answers_total', { outcome });
    log.info({ message: answer.trace, organization, user, outcome }, 'a daily letter was answered');
  }

  #letter(to: Address): AnsweredLetter | undefined {
    return answeredLetter(to, this.#options.settings.hostname, this.#key);
  }

  async #heed(letter: AnsweredLetter, { octets, index, nullSender, trace }: Answer): Promise<Outcome> {
    const { store, texts } = this.#options;
    const fields = readFields(octets.toString('latin1', 0, index.headerLength));
    if (nullSender || writtenByProgram(fields) !== undefined) return 'automatic';
    const owner = await store.read(answeringOwner, letter);
    if (owner === undefined) return 'missing';
    const to = { letter, ...owner };
    const stops = await texts.read('stop', { octets, parts: index.parts });
    return stops === true ? this.#stop(to, trace) : this.#explain(to);
  }

  async #stop(to: AnswerLetterFor, trace: string): Promise<Outcome> {
    const { store, queued } = this.#options;
    const { letter, email } = to;
    // That a letter cannot be made ready is no reason to let agents go on.
    const letters = await this.#orNone(() => this.#toOwners(to));
    const again = await this.#orNone(() => stoppedBeforeLetter(this.#options, to));
    const { kind, told } = await store.write(stopByAnswer, { letter, email, trace, letters, again });
    if (told) queued();
    if (kind !== 'missing') await this.#endLogins(letter.organization);
    return kind;
  }

  /** They are stopped, whatever becomes of this. */
  async #endLogins(organization: number): Promise<void> {
    const { log } = this.#options;
    await endAgentLogins(this.#options, organization).catch((error: unknown) =>
      log.error({ err: error, organization }, 'sessions of agents that were stopped could not be ended'),
    );
  }

  async #explain(to: AnswerLetterFor): Promise<Outcome> {
    const { store, queued } = this.#options;
    const letters = await this.#orNone(() => unclearLetter(this.#options, to));
    if (await store.write(answerOnce, { letter: to.letter, letters })) queued();
    return 'unclear';
  }

  async #toOwners({ letter, name, email: by }: AnswerLetterFor): Promise<Outgoing[]> {
    const owners = await this.#options.store.read(letterOwners, { organization: letter.organization, daily: false });
    const letters = owners.map(({ user, email }) =>
      stoppedLetter(this.#options, { letter: { ...letter, user }, name, email, by }),
    );
    return (await Promise.all(letters)).flat();
  }

  async #orNone(letters: () => Promise<Outgoing[]>): Promise<Outgoing[]> {
    try {
      return await letters();
    } catch (error) {
      if (error instanceof StoreBusy) throw error;
      this.#options.log.error({ err: error }, 'a letter about an answer could not be made ready');
      return [];
    }
  }
}
