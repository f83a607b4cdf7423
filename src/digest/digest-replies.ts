import type { TextTaskRunner } from '../core/text-tasks.ts';
import type { KeyObject } from 'node:crypto';
import type { NoticeReply, NoticeReplies } from '../../mail/delivery/notice-replies.ts';
import type { NoticeKind, SystemNotice } from '../../mail/delivery/notice.ts';
import { automaticReason } from '../../mail/forwarder/loop-guard.ts';
import type { Log, Meter } from '../../mail/log.ts';
import { type Address, parseAddress } from '../../mail/message/address.ts';
import { readFields } from '../../mail/message/header.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import { endAgentLogins, type Revoke } from '../agents/agent-logins.ts';
import { type NoticeContext, composeNotice } from '../notices/compose.ts';
import { notifiedOwners, plainName } from '../notices/owners.ts';
import { answeredLetter, answerKey, isOpen, answerAddress } from './reply-address.ts';
import { type AnsweredLetter, answerOnce, stopByAnswer } from './commands.ts';
import { replyingOwner } from './queries.ts';
import { publicId } from '../core/ids.ts';

export type DigestRepliesOptions = NoticeContext & {
  /** A notice was queued. */
  queued: () => void;
  revoked: Revoke;
  texts: TextTaskRunner;
  log: Log;
  metrics: Meter;
};

type Outcome = 'stopped' | 'before' | 'unclear' | 'automatic' | 'missing';

/**
 * Handles owners' replies to the daily digest. A holder of the address can only send STOP: an agent that reads its owner's
 * mail can stop itself, and start nothing.
 */
export class DigestReplies implements NoticeReplies {
  readonly #options: DigestRepliesOptions;
  readonly #key: KeyObject;

  constructor(options: DigestRepliesOptions) {
    this.#options = options;
    this.#key = answerKey(options.secrets);
  }

  classify(to: Address): 'answer' | 'over' | undefined {
    const letter = this.#letter(to);
    if (letter === undefined) return undefined;
    return isOpen(letter, this.#options.clock()) ? 'answer' : 'over';
  }

  async accept(answer: NoticeReply): Promise<void> {
    const { log, metrics } = this.#options;
    const letter = this.#letter(answer.to);
    if (letter === undefined) return;
    const outcome = await this.#heed(letter, answer);
    const { organization, user } = letter;
    metrics.count('digest_replies_total', { outcome });
    log.info({ message: answer.trace, organization, user, outcome }, 'digest reply handled');
  }

  #letter(to: Address): AnsweredLetter | undefined {
    return answeredLetter(to, this.#options.settings.hostname, this.#key);
  }

  async #heed(letter: AnsweredLetter, { octets, index, nullSender, trace }: NoticeReply): Promise<Outcome> {
    const { store, texts } = this.#options;
    const fields = readFields(octets.toString('latin1', 0, index.headerLength));
    if (nullSender || automaticReason(fields) !== undefined) return 'automatic';
    const owner = await store.read(replyingOwner, letter);
    if (owner === undefined) return 'missing';
    const to = { letter, ...owner };
    const stops = await texts.read('stop', { octets, parts: index.parts });
    return stops === true ? this.#stop(to, trace) : this.#explain(to);
  }

  async #stop(to: AnswerRecipient, trace: string): Promise<Outcome> {
    const { store, queued } = this.#options;
    const { letter, email } = to;
    // Stops agents even if the notice about it cannot be composed.
    const letters = await this.#orNone(() => this.#composeForOwners(to));
    const again = await this.#orNone(() => composeStoppedBefore(this.#options, to));
    const { kind, notified } = await store.write(stopByAnswer, { letter, email, trace, letters, again });
    if (notified) queued();
    if (kind !== 'missing') await this.#endLogins(letter.organization);
    return kind;
  }

  /** The agents are stopped even if this fails. */
  async #endLogins(organization: number): Promise<void> {
    const { log } = this.#options;
    await endAgentLogins(this.#options, organization).catch((error: unknown) =>
      log.error({ err: error, organization }, 'failed to end sessions of stopped agents'),
    );
  }

  async #explain(to: AnswerRecipient): Promise<Outcome> {
    const { store, queued } = this.#options;
    const letters = await this.#orNone(() => composeUnclearAnswer(this.#options, to));
    if (await store.write(answerOnce, { letter: to.letter, letters })) queued();
    return 'unclear';
  }

  async #composeForOwners({ letter, name, email: by }: AnswerRecipient): Promise<SystemNotice<'agents-stopped'>[]> {
    const owners = await this.#options.store.read(notifiedOwners, { organization: letter.organization, daily: false });
    const letters = owners.map(({ user, email }) =>
      composeAgentsStopped(this.#options, { letter: { ...letter, user }, name, email, by }),
    );
    return (await Promise.all(letters)).flat();
  }

  async #orNone<Kind extends NoticeKind>(letters: () => Promise<SystemNotice<Kind>[]>): Promise<SystemNotice<Kind>[]> {
    try {
      return await letters();
    } catch (error) {
      if (error instanceof StoreBusy) throw error;
      this.#options.log.error({ err: error }, 'failed to compose a notice about a digest reply');
      return [];
    }
  }
}

/** Recipient of a notice about a digest reply. */
interface AnswerRecipient {
  letter: AnsweredLetter;
  email: string;
  /** Name of the organization. */
  name: string;
}

/** Notifies an owner that a reply stopped all agents, whoever sent it. */
function composeAgentsStopped(
  context: NoticeContext,
  to: AnswerRecipient & { by: string },
): Promise<SystemNotice<'agents-stopped'>[]> {
  return composeReply(context, 'agents-stopped', to, 'All your agents are stopped', [
    `somebody replied STOP to the daily digest to ${to.by}: all agents of`,
    `"${plainName(to.name)}" are now stopped. They can do nothing, and their unsent mail is held.`,
    '',
    'Review what they did, and start them again on this page:',
    agentsPage(context, to.letter),
    '',
    'A reply cannot start agents again; sign in to do that.',
  ]);
}

/** Replies to STOP when all agents were stopped before. */
function composeStoppedBefore(context: NoticeContext, to: AnswerRecipient): Promise<SystemNotice<'digest-reply'>[]> {
  return composeReply(context, 'digest-reply', to, 'Your agents were already stopped', [
    `all agents of "${plainName(to.name)}" were stopped before your reply came.`,
    'Start them again on this page:',
    agentsPage(context, to.letter),
  ]);
}

/** Explains which reply is accepted. */
function composeUnclearAnswer(context: NoticeContext, to: AnswerRecipient): Promise<SystemNotice<'digest-reply'>[]> {
  const replyTo = answerAddress(to.letter, context.settings.hostname, answerKey(context.secrets));
  const text = [
    'the daily digest accepts only one reply: the word STOP, first in the first line. It stops all agents at once.',
    'Your reply was something else, so it changed nothing.',
    '',
    `For everything else, sign in for "${plainName(to.name)}":`,
    agentsPage(context, to.letter),
  ];
  return composeReply(context, 'digest-reply', to, 'Your reply changed nothing', text, replyTo);
}

function agentsPage({ baseUrl }: NoticeContext, { organization }: AnsweredLetter): string {
  return `${baseUrl()}/o/${publicId('organization', organization)}/agents`;
}

async function composeReply<Kind extends 'agents-stopped' | 'digest-reply'>(
  context: NoticeContext,
  kind: Kind,
  { email }: AnswerRecipient,
  subject: string,
  lines: readonly string[],
  replyTo?: Address,
): Promise<SystemNotice<Kind>[]> {
  const to = parseAddress(email);
  if (to === undefined) return [];
  const text = ['Hello,', '', ...lines, '', `Mailstead on ${context.settings.hostname}`].join('\r\n');
  return [await composeNotice(context, { kind, to, subject, text, ...(replyTo !== undefined && { replyTo }) })];
}
