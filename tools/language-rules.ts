/** The words that tools/lint-language.ts looks for. docs/glossary.md has the terms that are used in their place. */

/** A comment begins with a verb or a noun. */
export const OPENERS = /^(?:What|Who|Whom|Whose|How|Whether|Of)\b/;

/** Metaphors that stand for a term of the field, as words of names. */
export const BANNED_NAMES: ReadonlySet<string> = new Set(
  `door doors desk desks hall furnish surroundings herald heralds courier teller told utter lesson lessons learner teaches
   hand hands handed judgement judge judged judging judges circle exposure exposed veil veiled withheld story stories
   turnstile places crowd breathe converse tidy chore chores tally pulse standing apart together house asking asked
   spares spared forget`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

/** The same in comments, in text that people read, and in documents. */
export const BANNED_TEXT =
  /\b(?:doors?|desks?|heralds?|couriers?|tellers?|lessons?|judgements?|of the house|the house|veil(?:s|ed)?|turnstiles?|chores?|breathes?|tidied|tidies|tidying|utters?|handed[- ]out|handed[- ]on|shut out|judged?|judges|judging|told|tells|withheld)\b/gi;

/** Names that say nothing of which thing they are of. */
export const VAGUE_TYPES: ReadonlySet<string> = new Set(
  `Asked Told Wanted Waiting Place Places Answer Kept Known Asking Line Named Found Taken Refused Reached Left Said Given
   Settled Standing Tally Pulse UnderWay Surroundings Inside World Looked Shown Opened Made Stopped Passed Met Reach Ends
   Hand Hands Story Lesson Crowd Slots Turnstile AtOnce Thing Data Info Item`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

/** Places where a word is the field's own, or a stranger's. */
export const ALLOWED: readonly { file: string; words: readonly string[]; why: string }[] = [
  ...[
    'mail/agents/policy/presets.ts',
    'src/portal/pages/agent-policies.ts',
    'docs/agent-policies.md',
    'docs/tools.md',
  ].map((file) => ({ file, words: ['desk'], why: 'the preset support-desk' })),
  ...[
    'mail/store/notification/webhook-event.ts',
    'src/core/metrics.ts',
    'src/operations/sending/webhook-',
    'src/portal/pages/mailbox-integrations.ts',
    'src/portal/pages/webhook',
    'src/webhooks/',
    'src/schema/sent.sql',
  ].map((file) => ({ file, words: ['told'], why: 'the outcome of a webhook delivery in the API and in the store' })),
  ...[
    'docs/reading.md',
    'src/mcp/resources/prompts.ts',
    'src/operations/quarantine/list.ts',
    'src/operations/reading/',
    'src/operations/waiting/code.ts',
    'src/portal/pages/quarantine.ts',
  ].map((file) => ({ file, words: ['withheld'], why: 'a field of the API' })),
  ...[
    'src/operations/canaries/',
    'src/portal/pages/canaries.ts',
    'src/canaries/trip-commands.ts',
    'src/cli/agent-verbs.ts',
  ].map((file) => ({ file, words: ['door', 'story'], why: 'fields of the API and of the audit log' })),
  { file: 'src/operations/agents/explain.ts', words: ['exposure'], why: 'a field of the API' },
  { file: 'src/operations/identity/whoami.ts', words: ['exposed'], why: 'a field of the API' },
  { file: 'src/operations/sending/outbox.ts', words: ['asked'], why: 'the field askedBy of the API' },
  { file: 'src/portal/approval-view.ts', words: ['asked'], why: 'the field askedBy of the API' },
  { file: 'src/schema/health.sql', words: ['told'], why: 'a migration that was merged never changes' },
  { file: 'bench/', words: ['judged'], why: 'the name of a bench' },
  { file: 'test/support/dialog.ts', words: ['door'], why: 'a keyword of dialog files' },
];
