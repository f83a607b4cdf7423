import type { listAliases } from '../../operations/aliases/list.ts';
import type { listSenderRules } from '../../operations/sender-rules/rules.ts';
import { field, select } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { type Act, acting, filledFor, more, type State, sure } from '../page.ts';
import { address, day, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';
import type { Mailbox } from './mailboxes.ts';

type Alias = Answer<typeof listAliases>['aliases'][number];
type Rule = Answer<typeof listSenderRules>['rules'][number];

export const ADDRESSES_DONE = {
  aliased: 'The alias is there: mail to it lands in this mailbox.',
  unaliased: 'The alias is removed; mail to it is refused.',
  ruled: 'The rule holds from now on.',
  unruled: 'The rule is removed.',
};

/** Under which addresses mail comes in, and from whom. */
export const addressActs: Readonly<Record<string, Act>> = {
  alias: acting(
    'create_alias',
    (fields, params) => ({
      mailboxIds: [params['id'] ?? ''],
      localPart: fields.line('localPart'),
      expiresAt: endOf(fields.line('expiresAt')),
      note: fields.line('note'),
    }),
    () => ({ kind: 'done', said: 'aliased' }),
  ),
  unalias: acting(
    'remove_alias',
    (fields) => ({ aliasId: fields.text('aliasId') }),
    () => ({ kind: 'done', said: 'unaliased' }),
  ),
  rule: acting(
    'add_sender_rule',
    (fields, params) => ({
      mailboxId: params['id'],
      kind: fields.text('kind'),
      pattern: fields.line('pattern') ?? '',
    }),
    () => ({ kind: 'done', said: 'ruled' }),
  ),
  unrule: acting(
    'remove_sender_rule',
    (fields) => ({ ruleId: fields.text('ruleId') }),
    () => ({ kind: 'done', said: 'unruled' }),
  ),
};

/** The end of a day that a form gives as `2027-01-31`. */
function endOf(date: string | undefined): string | undefined {
  return date === undefined ? undefined : `${date}T23:59:59Z`;
}

export async function aliases(visit: Visit, state: State, one: Mailbox): Promise<Part> {
  if (!can(visit, 'list_aliases')) return undefined;
  const listed = await read<typeof listAliases>(visit, 'list_aliases', { mailboxId: one.id, limit: 100 });
  const all = listed?.aliases ?? [];
  const filled = filledFor(state, 'alias');
  const hint = `Before the @${one.domain}. Left empty, one is made that nobody guesses. "sales-*" takes all that fits, "*" everything that nobody else has.`;
  const body = [
    field({ name: 'localPart', label: 'Name', optional: true, hint, id: 'alias-name' }, filled),
    field({ name: 'expiresAt', label: 'Last day', type: 'date', optional: true, id: 'alias-end' }, filled),
    field({ name: 'note', label: 'What it is for', optional: true, id: 'alias-note' }, filled),
  ];
  return html`<section>
    <h2>Aliases</h2>
    <p>Further addresses of this mailbox, such as one for each place that asks for one.</p>
    ${all.length > 0 && aliasTable(visit, all)}
    ${can(visit, 'create_alias') && more(visit, state, 'alias', 'Make an alias', 'Make it', body)}
  </section>`;
}

const ENDED: Readonly<Record<Alias['state'], Part>> = {
  active: undefined,
  expired: tag('expired', 'warn'),
  used_up: tag('used up', 'warn'),
};

function aliasTable(visit: Visit, all: readonly Alias[]): Part {
  return table(
    'Aliases',
    ['Address', 'Messages', 'First from', 'Until', ''],
    all.map((one) => [
      html`${address(one.address)}
      ${ENDED[one.state]}${one.note !== null && html`<br /><span class="small soft">${one.note}</span>`}`,
      one.maxMessages === null ? one.messages : `${one.messages} of ${one.maxMessages}`,
      one.firstSenderDomain ?? '',
      one.expiresAt !== null && day(one.expiresAt),
      can(visit, 'remove_alias') &&
        sure(visit, 'unalias', {
          label: 'Remove',
          question: `Mail to ${one.address} is refused from then on, unless another alias fits.`,
          yes: 'Remove it',
          values: { aliasId: one.id },
        }),
    ]),
  );
}

const KINDS = [
  { value: 'block', label: 'Block' },
  { value: 'allow', label: 'Allow' },
];

export async function senders(visit: Visit, state: State, one: Mailbox): Promise<Part> {
  if (!can(visit, 'list_sender_rules')) return undefined;
  const asked = { mailboxId: one.id, direction: 'in', limit: 100 } as const;
  const all = (await read<typeof listSenderRules>(visit, 'list_sender_rules', asked))?.rules ?? [];
  const filled = filledFor(state, 'rule');
  const hint = 'An address, a domain, *.domain for all under it, or a network such as 192.0.2.0/24.';
  const body = [
    select({ name: 'kind', label: 'What', choices: KINDS }, filled),
    field({ name: 'pattern', label: 'Whom', hint }, filled),
  ];
  return html`<section>
    <h2>Who may write</h2>
    <p>Blocked senders are refused. Mail of allowed ones is never junk, when it is proved to be theirs.</p>
    ${all.length > 0 && ruleTable(visit, all)}
    ${can(visit, 'add_sender_rule') && more(visit, state, 'rule', 'Allow or block a sender', 'Save', body)}
  </section>`;
}

function ruleTable(visit: Visit, all: readonly Rule[]): Part {
  return table(
    'Rules about senders',
    ['Sender', '', 'Since', ''],
    all.map((one) => [
      html`<code>${one.pattern}</code>`,
      one.kind === 'block' ? tag('blocked', 'bad') : tag('allowed'),
      day(one.createdAt),
      one.mailboxId === null
        ? html`<span class="small soft">of the organization</span>`
        : can(visit, 'remove_sender_rule') &&
          sure(visit, 'unrule', {
            label: 'Remove',
            question: `What ${one.pattern} sends is judged like everything else.`,
            yes: 'Remove it',
            values: { ruleId: one.id },
            calm: true,
          }),
    ]),
  );
}
