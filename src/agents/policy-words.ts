import type { AgentBudgets, AgentPolicy } from '../../mail/delivery/agent/types.ts';

/** What a policy means, in sentences without their full stops. */
export interface PolicyWords {
  readonly may: readonly string[];
  /** For a person. */
  readonly waits: readonly string[];
  readonly never: readonly string[];
}

/** Names that are listed before "and n more". */
const SHOWN = 12;

export function policyWords(policy: AgentPolicy, { attended = true }: { attended?: boolean } = {}): PolicyWords {
  return {
    may: [
      'Read its mailboxes and wait for mail',
      ...writes(policy),
      ...spared(policy),
      ...limits(policy),
      ...(attended || policy.sends === 'nobody' ? [] : [NOBODY_THERE]),
    ],
    waits: [...(attended ? held(policy) : []), ...(policy.rulesWait ? [RULES] : [])],
    never: [...shutOut(policy), ...ALWAYS_NEVER],
  };
}

/** The gate holds nothing there. */
const NOBODY_THERE =
  'Write without waiting, as nobody has claimed the organization and could approve; after it has read what outsiders wrote each message counts twice';

/** Who may be written to only when on the list is never a stranger. */
function held({ sends, holdAfterReading }: AgentPolicy): string[] {
  if (!holdAfterReading || sends === 'nobody' || sends === 'allowed') return [];
  return [
    'Mail to strangers after it has read what outsiders wrote',
    'Mail that hands on what others wrote, or a file of theirs, and answers that a Reply-To leads elsewhere, without any reading',
  ];
}

const RULES =
  'Forwards, webhooks, allowed senders, routes, domains, invitations, organizations, tokens, keys and passwords that it asks for';
const ALWAYS_NEVER = ['Send tokens, passwords or codes that it was shown', 'Approve what waits, or change its policy'];

function writes({ sends, allow }: AgentPolicy): string[] {
  switch (sends) {
    case 'anybody':
      return ['Write to anybody'];
    case 'replies':
      return ['Answer who wrote first, in the same conversation'];
    case 'allowed':
      return allow.length === 0 ? [] : [`Write to ${listed(allow)}`];
    case 'nobody':
      return [];
  }
}

function spared({ sends, allow, holdAfterReading }: AgentPolicy): string[] {
  const matters = holdAfterReading && allow.length > 0 && (sends === 'anybody' || sends === 'replies');
  return matters ? [`Write to ${listed(allow)} without waiting`] : [];
}

function shutOut({ sends, allow, block }: AgentPolicy): string[] {
  const whom = {
    anybody: [],
    replies: ['Write to somebody who did not write first'],
    allowed: [allow.length === 0 ? 'Send mail, as nobody is on its list' : 'Write to anybody else'],
    nobody: ['Send mail'],
  }[sends];
  return block.length === 0 || sends === 'nobody' ? whom : [...whom, `Write to ${listed(block)}`];
}

function limits({ sends, budgets }: AgentPolicy): string[] {
  if (sends === 'nobody') return [];
  const { recipientsPerMessage: recipients, bytesPerDay: bytes } = budgets;
  const messages = periods(budgets.messagesPerHour, budgets.messagesPerDay, null);
  const strangers = periods(budgets.newRecipientsPerHour, budgets.newRecipientsPerDay, budgets.newRecipientsPerWeek);
  return [
    ...(messages === '' ? [] : [`Send at most ${messages} messages`]),
    ...(strangers === '' ? [] : [`Write to at most ${strangers} new addresses`]),
    ...(recipients === null ? [] : [`Name at most ${recipients} recipients in a message`]),
    ...(bytes === null ? [] : [`Send at most ${Math.round(bytes / 1e6)} MB a day`]),
  ];
}

function periods(hour: number | null, day: number | null, week: number | null): string {
  const all = [
    [hour, 'an hour'],
    [day, 'a day'],
    [week, 'a week'],
  ] as const;
  return all.flatMap(([count, period]) => (count === null ? [] : [`${count} ${period}`])).join(', ');
}

function listed(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return more > 0 ? `${names.slice(0, SHOWN).join(', ')} and ${more} more` : names.join(', ');
}

const HEADS = [
  ['may', 'It may from now on', 'It may no longer'],
  ['waits', 'Waits from now on', 'Waits no longer'],
  ['never', 'Impossible from now on', 'No longer impossible'],
] as const;

/** What changes when one policy comes in the place of another; none: nothing. */
export function changesInWords(before: AgentPolicy, after: AgentPolicy): string[] {
  const [was, is] = [policyWords(before), policyWords(after)];
  return HEADS.flatMap(([part, more, less]) => [
    ...is[part].filter((one) => !was[part].includes(one)).map((one) => `${more}: ${one}`),
    ...was[part].filter((one) => !is[part].includes(one)).map((one) => `${less}: ${one}`),
  ]);
}

/** Whether nothing goes by this policy that would wait, or be stopped, where nobody chose one. */
export function isTight({ holdAfterReading, allow }: AgentPolicy): boolean {
  return holdAfterReading && allow.length === 0;
}

/** The names of budgets, in the order in which people are asked. */
export const BUDGETS = [
  'messagesPerHour',
  'messagesPerDay',
  'newRecipientsPerHour',
  'newRecipientsPerDay',
  'newRecipientsPerWeek',
  'recipientsPerMessage',
  'bytesPerDay',
] as const satisfies readonly (keyof AgentBudgets)[];
