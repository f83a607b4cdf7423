import type { Outgoing } from '../../mail/delivery/submit.ts';
import { parseAddress } from '../../mail/message/address.ts';
import { harmless } from '../bootstrap/claim-letter.ts';
import { publicId } from '../ids.ts';
import { prepareLetter } from '../letters/letter.ts';
import { answerAddress, answerKey } from './answer-address.ts';
import type { AnsweredLetter } from './commands.ts';
import type { DigestPost } from './letter.ts';

/** Whom a letter of the box is for, and of which organization it is. */
export interface AnswerLetterFor {
  letter: AnsweredLetter;
  email: string;
  /** Of the organization. */
  name: string;
}

/** Says that all agents are stopped since somebody answered so: to an owner, whoever it was that answered. */
export function stoppedLetter(post: DigestPost, to: AnswerLetterFor & { by: string }): Promise<Outgoing[]> {
  return letterTo(post, to, 'All your agents are stopped', [
    `somebody answered STOP to the daily letter to ${to.by}: all agents of`,
    `"${harmless(to.name)}" are stopped from this moment on. None of them can do anything,`,
    'and what they sent and has not left is held.',
    '',
    'Look at what they did, and let them go on when all is well:',
    agentsPage(post, to.letter),
    '',
    'No answer to a letter can start them, only you, when you are signed in.',
  ]);
}

/** Says to who answered STOP that all were stopped already. */
export function stoppedBeforeLetter(post: DigestPost, to: AnswerLetterFor): Promise<Outgoing[]> {
  return letterTo(post, to, 'Your agents are stopped already', [
    `all agents of "${harmless(to.name)}" were stopped before your answer came.`,
    'Let them go on when all is well:',
    agentsPage(post, to.letter),
  ]);
}

/** Says what can be answered, to who answered something else. */
export function unclearLetter(post: DigestPost, to: AnswerLetterFor): Promise<Outgoing[]> {
  const replyTo = answerAddress(to.letter, post.settings.hostname, answerKey(post.secrets));
  const text = [
    'nobody reads answers to the daily letter, and yours changed nothing. One word can be answered,',
    'as the first of the first line: STOP. It stops all agents at once.',
    '',
    `All else is done where you are signed in, for "${harmless(to.name)}":`,
    agentsPage(post, to.letter),
  ];
  return letterTo(post, to, 'Your answer changed nothing', text, replyTo);
}

function agentsPage({ baseUrl }: DigestPost, { organization }: AnsweredLetter): string {
  return `${baseUrl()}/o/${publicId('organization', organization)}/agents`;
}

async function letterTo(
  post: DigestPost,
  { email }: AnswerLetterFor,
  subject: string,
  lines: readonly string[],
  replyTo?: Parameters<typeof prepareLetter>[1]['replyTo'],
): Promise<Outgoing[]> {
  const to = parseAddress(email);
  if (to === undefined) return [];
  const text = ['Hello,', '', ...lines, '', `Mailstead on ${post.settings.hostname}`].join('\r\n');
  return [await prepareLetter(post, { to, subject, text, ...(replyTo !== undefined && { replyTo }) })];
}
