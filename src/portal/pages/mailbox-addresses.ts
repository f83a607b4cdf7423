import type { listAliases } from '../../operations/aliases/change.ts';
import type { listSenderRules } from '../../operations/sender-rules/rules.ts';
import { field, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import {
  type Page,
  type PageAction,
  operationAction,
  formStateFor,
  collapsedForm,
  type PageState,
  confirmedAction,
} from '../page.ts';
import { address, dateOnly, table, tag } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import type { MailboxRow } from './mailboxes.ts';

type Alias = OutputOf<typeof listAliases>['aliases'][number];
type Rule = OutputOf<typeof listSenderRules>['rules'][number];

/** Actions on aliases and sender rules of a mailbox. */
export const addressActions: Readonly<Record<string, PageAction>> = {
  alias: operationAction('create_alias', 'aliased', (fields, params) => ({
    mailboxIds: [params['id'] ?? ''],
    localPart: fields.line('localPart'),
    expiresAt: endOf(fields.line('expiresAt')),
    note: fields.line('note'),
  })),
  unalias: operationAction('remove_alias', 'unaliased', ['aliasId']),
  rule: operationAction('add_sender_rule', 'ruled', (fields, params) => ({
    mailboxId: params['id'],
    kind: fields.text('kind'),
    pattern: fields.line('pattern') ?? '',
  })),
  unrule: operationAction('remove_sender_rule', 'unruled', ['ruleId']),
};

/** Aliases and sender rules. */
export const mailboxAddresses: Page = mailboxPage('addresses', {
  translated: true,
  actions: addressActions,
  show: async (visit, state, found) =>
    html`${await aliases(visit, state, found)} ${await senders(visit, state, found)}`,
});

/** End of a day such as `2027-01-31`, UTC. */
function endOf(date: string | undefined): string | undefined {
  return date === undefined ? undefined : `${date}T23:59:59Z`;
}

async function aliases(visit: Visit, state: PageState, one: MailboxRow): Promise<HtmlPart> {
  if (!isAllowed(visit, 'list_aliases')) return undefined;
  const listed = await readOperation<typeof listAliases>(visit, 'list_aliases', { mailboxId: one.id, limit: 100 });
  const all = listed?.aliases ?? [];
  const formState = formStateFor(state, 'alias');
  const t = translatorOf(visit.request);
  const hint = t('alias.hint', { domain: one.domain });
  const optional = t('field.optional');
  const body = [
    field({ name: 'localPart', label: t('account.name'), optional, hint, id: 'alias-name' }, formState),
    field({ name: 'expiresAt', label: t('access.last-day'), type: 'date', optional, id: 'alias-end' }, formState),
    field({ name: 'note', label: t('alias.note'), optional, id: 'alias-note' }, formState),
  ];
  return html`<section>
    <h2>${t('alias.title')}</h2>
    <p>${t('alias.about')}</p>
    ${all.length > 0 && aliasTable(t, visit, all)}
    ${isAllowed(visit, 'create_alias') && collapsedForm(visit, state, 'alias', t('alias.create'), t('alias.create-button'), body)}
  </section>`;
}

function endOfAlias(t: Translator, { state }: Alias): HtmlPart {
  return state !== 'active' && tag(t(state === 'expired' ? 'alias.expired' : 'alias.used-up'), 'warn');
}

function aliasTable(t: Translator, visit: Visit, all: readonly Alias[]): HtmlPart {
  return table(
    t('alias.title'),
    [t('devices.address'), t('charts.messages'), t('alias.first-sender'), t('access.expires'), ''],
    all.map((one) => [
      html`${address(one.address)}
      ${endOfAlias(t, one)}${one.note !== null && html`<br /><span class="small soft">${one.note}</span>`}`,
      one.maxMessages === null ? one.messages : t('alias.of', { messages: one.messages, most: one.maxMessages }),
      one.firstSenderDomain ?? '',
      one.expiresAt === null ? t('devices.never') : dateOnly(one.expiresAt, t),
      isAllowed(visit, 'remove_alias') &&
        confirmedAction(visit, 'unalias', {
          label: t('mailbox.delete-button'),
          question: t('alias.delete-question', { address: one.address }),
          yes: t('mailbox.delete-button'),
          values: { aliasId: one.id },
        }),
    ]),
    t,
  );
}

async function senders(visit: Visit, state: PageState, one: MailboxRow): Promise<HtmlPart> {
  if (!isAllowed(visit, 'list_sender_rules')) return undefined;
  const filter = { mailboxId: one.id, direction: 'in', limit: 100 } as const;
  const all = (await readOperation<typeof listSenderRules>(visit, 'list_sender_rules', filter))?.rules ?? [];
  const formState = formStateFor(state, 'rule');
  const t = translatorOf(visit.request);
  const choices = [
    { value: 'block', label: t('rule.block') },
    { value: 'allow', label: t('rule.allow') },
  ];
  const body = [
    select({ name: 'kind', label: t('find.action'), choices }, formState),
    field({ name: 'pattern', label: t('rule.sender'), hint: t('rule.hint') }, formState),
  ];
  return html`<section>
    <h2>${t('rule.title')}</h2>
    <p>${t('rule.about')}</p>
    ${all.length > 0 && ruleTable(t, visit, all)}
    ${isAllowed(visit, 'add_sender_rule') && collapsedForm(visit, state, 'rule', t('rule.add'), t('mailbox.save'), body)}
  </section>`;
}

function ruleTable(t: Translator, visit: Visit, all: readonly Rule[]): HtmlPart {
  return table(
    t('rule.title'),
    [t('rule.sender'), t('find.action'), t('mailbox.created'), ''],
    all.map((one) => [
      html`<code>${one.pattern}</code>`,
      one.kind === 'block' ? tag(t('rule.blocked'), 'bad') : tag(t('rule.allowed')),
      dateOnly(one.createdAt, t),
      one.mailboxId === null
        ? html`<span class="small soft">${t('rule.of-organization')}</span>`
        : isAllowed(visit, 'remove_sender_rule') &&
          confirmedAction(visit, 'unrule', {
            label: t('mailbox.delete-button'),
            question: t('rule.delete-question', { pattern: one.pattern }),
            yes: t('mailbox.delete-button'),
            values: { ruleId: one.id },
            calm: true,
          }),
    ]),
    t,
  );
}
