import type { listAgentTokens } from '../../operations/organization/tokens.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { listAgentPolicies } from '../../operations/policies/people.ts';
import { field, select } from '../forms.ts';
import { html, type Html } from '../html.ts';
import type { PlainPortalKey } from '../message-types.ts';
import {
  operationAction,
  formStateFor,
  type Page,
  actionForm,
  type PageState,
  type PageAction,
  refusedForm,
} from '../page.ts';
import { emptyState, pageHead } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { isAllowed, readOperation, type Visit, runOperation } from '../visit.ts';
import type { Fields } from '../form-fields.ts';
import { type AgentPolicyRow, allowField, policySection, recipientChoices } from './agent-policy-section.ts';

/** Splits a field with several names at spaces, commas and semicolons. */
function listOf(fields: Fields, name: string): string[] {
  return (fields.line(name) ?? '').split(/[\s,;]+/).filter((one) => one !== '');
}

const createPolicy: PageAction = operationAction('save_agent_policy', 'made', (fields) => ({
  name: fields.line('name'),
  preset: fields.line('preset'),
  sends: fields.line('sends'),
  allow: listOf(fields, 'allow'),
}));

/** Replaces all rules: the form is complete, so an empty field or unchecked box clears the rule. */
const changePolicy: PageAction = async (visit, fields) => {
  const waits = fields.list('waits');
  const given = { policyId: fields.text('policyId'), name: fields.line('name'), sends: fields.text('sends') };
  const done = await runOperation(visit, 'save_agent_policy', {
    ...given,
    allow: listOf(fields, 'allow'),
    block: listOf(fields, 'block'),
    holdAfterReading: waits.includes('hold'),
    rulesWait: waits.includes('rules'),
  });
  if (done.kind === 'done') return { kind: 'done', notice: 'changed' };
  return { kind: 'refused', form: { ...refusedForm(given, done.refusal), errorLanguage: 'en' } };
};

/** Attaches a policy; `target` is a mailbox or token id. */
const attachPolicy: PageAction = operationAction('attach_agent_policy', 'attached', (fields) => {
  const target = fields.text('target');
  const which = target.startsWith('tok_') ? { tokenId: target } : { mailboxId: target };
  return { ...which, policyId: fields.line('policyId') };
});

/** Agent policies, with the mailboxes and tokens that they govern. */
export const agentPolicies: Page = {
  path: '/agent-policies',
  name: 'Agent policies',
  translated: true,
  menu: 'Programs',
  needs: 'list_agent_policies',
  notForMembers: true,
  notices: {
    made: { message: 'policy.made' },
    changed: { message: 'policy.changed' },
    attached: { message: 'policy.attached' },
    removed: { message: 'policy.removed' },
  },
  actions: {
    make: createPolicy,
    change: changePolicy,
    attach: attachPolicy,
    remove: operationAction('remove_agent_policy', 'removed', ['policyId']),
  },
  async show(visit, state) {
    const t = translatorOf(visit.request);
    const [listed, names] = await Promise.all([
      readOperation<typeof listAgentPolicies>(visit, 'list_agent_policies', {}),
      targetNames(t, visit),
    ]);
    const all = listed?.policies ?? [];
    return html`${pageHead(t('page.Agent policies'), t('policy.about'))}
    ${all.length === 0 ? emptyState(t('policy.none'), t('policy.none-text')) : all.map((one) => policySection(t, visit, one, names))}
    ${isAllowed(visit, 'attach_agent_policy') && all.length > 0 && attachForm(t, visit, state, all, names)}
    ${isAllowed(visit, 'save_agent_policy') && makeForm(t, visit, state, all)}`;
  },
};

/** Names of the mailboxes and live tokens by id. */
async function targetNames(t: Translator, visit: Visit): Promise<ReadonlyMap<string, string>> {
  const [mailboxes, tokens] = await Promise.all([
    readOperation<typeof listEmails>(visit, 'list_emails', { limit: 100 }),
    readOperation<typeof listAgentTokens>(visit, 'list_agent_tokens', { limit: 100 }),
  ]);
  const live = (tokens?.tokens ?? []).filter((one) => !one.revoked);
  return new Map([
    ...(mailboxes?.mailboxes ?? []).map((one) => [one.id, one.address] as const),
    ...live.map((one) => [one.id, t('policy.token', { name: one.name })] as const),
  ]);
}

function attachForm(
  t: Translator,
  visit: Visit,
  state: PageState,
  all: readonly AgentPolicyRow[],
  names: ReadonlyMap<string, string>,
): Html {
  const formState = formStateFor(state, 'attach');
  const targets = [...names].map(([value, label]) => ({ value, label }));
  const choices = [
    ...all.map((one) => ({ value: one.policyId, label: one.name })),
    { value: '', label: t('policy.detach') },
  ];
  return html`<section>
    <h2>${t('policy.attach-title')}</h2>
    <p>${t('policy.attach-about')}</p>
    ${actionForm(
      visit,
      'attach',
      t('policy.attach'),
      html`<div class="row">
        ${select({ name: 'target', label: t('policy.target'), choices: targets }, formState)}
        ${select({ name: 'policyId', label: t('policy.name'), choices }, formState)}
      </div>`,
    )}
  </section>`;
}

const PRESETS: readonly (readonly [value: string, label: PlainPortalKey])[] = [
  ['trusted-internal', 'policy-preset.internal'],
  ['support-desk', 'policy-preset.support'],
  ['signup-bot', 'policy-preset.sign-up'],
  ['custom', 'policy-preset.custom'],
];

function makeForm(t: Translator, visit: Visit, state: PageState, all: readonly AgentPolicyRow[]): Html {
  const formState = formStateFor(state, 'make');
  const presets = PRESETS.map(([value, label]) => ({ value, label: t(label) }));
  const recipients = [{ value: '', label: t('policy-sends.preset') }, ...recipientChoices(t)];
  return html`<section>
    <h2>${t(all.length === 0 ? 'policy.create-title' : 'policy.create-another')}</h2>
    ${actionForm(
      visit,
      'make',
      t('policy.create'),
      html`${field({ name: 'name', label: t('account.name'), id: 'policy-name' }, formState)}
      ${select({ name: 'preset', label: t('policy.preset'), choices: presets }, formState)}
      ${select({ name: 'sends', label: t('policy.recipients'), choices: recipients }, formState)}
      ${field(allowField(t), formState)}`,
    )}
  </section>`;
}
