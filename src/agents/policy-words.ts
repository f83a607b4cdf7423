import type { AgentBudgets, AgentPolicy } from '../../mail/agents/gate/types.ts';

/** Meaning of a policy, in sentences without their full stops. */
export interface PolicyDescription {
  readonly may: readonly string[];
  /** Awaits approval. */
  readonly waits: readonly string[];
  readonly never: readonly string[];
}

/** Entries listed before "and n more". */
const SHOWN = 12;

export function describePolicy(
  policy: AgentPolicy,
  { attended = true }: { attended?: boolean } = {},
): PolicyDescription {
  return {
    may: [
      'Read its mailboxes and wait for mail',
      ...writes(policy),
      ...exemptions(policy),
      ...limits(policy),
      ...(attended || policy.sends === 'nobody' ? [] : [NOBODY_THERE]),
    ],
    waits: [...(attended ? held(policy) : []), ...(policy.rulesWait ? [RULES] : [])],
    never: [...blocked(policy), ...ALWAYS_NEVER],
  };
}

/** The gate holds nothing if nobody can approve. */
const NOBODY_THERE =
  'Send without approval, as nobody has claimed the organization; after reading mail from outsiders each message counts twice';

/** With a list of allowed recipients nobody is a stranger. */
function held({ sends, holdAfterReading }: AgentPolicy): string[] {
  if (!holdAfterReading || sends === 'nobody' || sends === 'allowed') return [];
  return [
    'Mail to new recipients after it has read mail from outsiders',
    "Mail that forwards other people's mail or files, and replies that a Reply-To redirects, even without reading",
  ];
}

const RULES =
  'Forwards, webhooks, allowed senders, routes, domains, invitations, organizations, tokens, keys and passwords that it requests';
const ALWAYS_NEVER = [
  'Send tokens, passwords or codes that it was shown',
  'Approve held mail or proposals, or change its policy',
];

function writes({ sends, allow }: AgentPolicy): string[] {
  switch (sends) {
    case 'anybody':
      return ['Write to anybody'];
    case 'replies':
      return ['Reply to people who wrote first, in the same conversation'];
    case 'allowed':
      return allow.length === 0 ? [] : [`Write to ${listed(allow)}`];
    case 'nobody':
      return [];
  }
}

function exemptions({ sends, allow, holdAfterReading }: AgentPolicy): string[] {
  const matters = holdAfterReading && allow.length > 0 && (sends === 'anybody' || sends === 'replies');
  return matters ? [`Write to ${listed(allow)} without approval`] : [];
}

function blocked({ sends, allow, block }: AgentPolicy): string[] {
  const whom = {
    anybody: [],
    replies: ['Write to people who did not write first'],
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
  ['may', 'Now allowed', 'No longer allowed'],
  ['waits', 'Now needs approval', 'No longer needs approval'],
  ['never', 'Now blocked', 'No longer blocked'],
] as const;

/** Sentences for the difference between two policies. */
export function describeChanges(before: AgentPolicy, after: AgentPolicy): string[] {
  const [was, is] = [describePolicy(before), describePolicy(after)];
  return HEADS.flatMap(([part, more, less]) => [
    ...is[part].filter((one) => !was[part].includes(one)).map((one) => `${more}: ${one}`),
    ...was[part].filter((one) => !is[part].includes(one)).map((one) => `${less}: ${one}`),
  ]);
}

/** Tests that a policy is no looser than the default. */
export function isStrict({ holdAfterReading, allow }: AgentPolicy): boolean {
  return holdAfterReading && allow.length === 0;
}

/** Names of budgets in the order of the form. */
export const BUDGETS = [
  'messagesPerHour',
  'messagesPerDay',
  'newRecipientsPerHour',
  'newRecipientsPerDay',
  'newRecipientsPerWeek',
  'recipientsPerMessage',
  'bytesPerDay',
] as const satisfies readonly (keyof AgentBudgets)[];
