import type { listAgentTokens } from '../../operations/organization/tokens.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { listAgentPolicies } from '../../operations/policies/people.ts';
import { type Choice, checkboxes, field, select } from '../forms.ts';
import { html, type Html, type HtmlPart } from '../html.ts';
import {
  operationAction,
  formStateFor,
  type Page,
  actionForm,
  type PageState,
  confirmedAction,
  type PageAction,
  refusedForm,
} from '../page.ts';
import { buttonRow, address, emptyState, pageHead } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit, runOperation } from '../visit.ts';
import type { Fields } from '../form-fields.ts';

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
  return { kind: 'refused', form: refusedForm(given, done.refusal) };
};

/** Attaches a policy; `target` is a mailbox or token id. */
const attachPolicy: PageAction = operationAction('attach_agent_policy', 'attached', (fields) => {
  const target = fields.text('target');
  const which = target.startsWith('tok_') ? { tokenId: target } : { mailboxId: target };
  return { ...which, policyId: fields.line('policyId') };
});

type Policy = OutputOf<typeof listAgentPolicies>['policies'][number];

/** Agent policies, with the mailboxes and tokens that they govern. */
export const agentPolicies: Page = {
  path: '/agent-policies',
  name: 'Agent policies',
  menu: 'Programs',
  needs: 'list_agent_policies',
  notForMembers: true,
  notices: {
    made: 'Policy created. It has no effect until you attach it to a mailbox or token.',
    changed: 'Policy changed. It applies from the next message on.',
    attached: 'Policy attached.',
    removed: 'Policy deleted.',
  },
  actions: {
    make: createPolicy,
    change: changePolicy,
    attach: attachPolicy,
    remove: operationAction('remove_agent_policy', 'removed', ['policyId']),
  },
  async show(visit, state) {
    const [listed, mailboxes, tokens] = await Promise.all([
      readOperation<typeof listAgentPolicies>(visit, 'list_agent_policies', {}),
      readOperation<typeof listEmails>(visit, 'list_emails', { limit: 100 }),
      readOperation<typeof listAgentTokens>(visit, 'list_agent_tokens', { limit: 100 }),
    ]);
    const all = listed?.policies ?? [];
    const live = (tokens?.tokens ?? []).filter((one) => !one.revoked);
    const names = new Map([
      ...(mailboxes?.mailboxes ?? []).map((one) => [one.id, one.address] as const),
      ...live.map((one) => [one.id, `token ${one.name}`] as const),
    ]);
    return html`${pageHead('Agent policies', ABOUT)}
    ${all.length === 0 ? NONE : all.map((one) => policySection(visit, one, names))}
    ${isAllowed(visit, 'attach_agent_policy') && all.length > 0 && attachForm(visit, state, all, names)}
    ${isAllowed(visit, 'save_agent_policy') && makeForm(visit, state, all)}`;
  },
};

const ABOUT =
  'Rules for what agents may do alone, what needs approval, and what is blocked. If a token and its mailbox both have a policy, the stricter one applies.';
const NONE = emptyState(
  'No policies',
  'Without a policy, an agent may write to anybody. Mail to new recipients needs approval once the agent has read untrusted content.',
);

const PRESETS: readonly Choice[] = [
  { value: 'trusted-internal', label: 'Trusted internal: writes to anybody, limited new recipients' },
  { value: 'support-desk', label: 'Support: replies only' },
  { value: 'signup-bot', label: 'Sign-up bot: receives mail and codes, sends nothing' },
  { value: 'custom', label: 'Custom' },
];
const SENDS: readonly Choice[] = [
  { value: '', label: 'Preset default' },
  { value: 'anybody', label: 'Anybody' },
  { value: 'replies', label: 'Replies only' },
  { value: 'allowed', label: 'Only the allow list' },
  { value: 'nobody', label: 'Nobody' },
];

function policySection(visit: Visit, one: Policy, names: ReadonlyMap<string, string>): Html {
  const holds = [...one.mailboxIds, ...one.tokenIds];
  return html`<section>
    <h2>${one.name}</h2>
    <p>
      ${
        holds.length === 0
          ? 'Not attached.'
          : ['Attached to ', holds.map((id, i) => [i > 0 && ', ', address(names.get(id) ?? id)]), '.']
      }
    </p>
    ${words('Allowed', one.may)} ${words('Needs approval', one.waits)} ${words('Blocked', one.never)}
    ${buttonRow(isAllowed(visit, 'save_agent_policy') && changeForm(visit, one), holds.length === 0 && removal(visit, one))}
  </section>`;
}

function words(heading: string, all: readonly string[]): HtmlPart {
  return (
    all.length > 0 &&
    html`<h3>${heading}</h3>
      <ul>
        ${all.map((one) => html`<li>${one}</li>`)}
      </ul>`
  );
}

function removal(visit: Visit, { policyId, name }: Policy): HtmlPart {
  return (
    isAllowed(visit, 'remove_agent_policy') &&
    confirmedAction(visit, 'remove', {
      label: 'Delete',
      question: `Deletes ${name}.`,
      yes: 'Delete',
      values: { policyId },
    })
  );
}

function changeForm(visit: Visit, { policyId, name, rules }: Policy): Html {
  const id = (part: string): string => `${part}-${policyId}`;
  const waits = [...(rules.holdAfterReading ? ['hold'] : []), ...(rules.rulesWait ? ['rules'] : [])];
  const body = html`${field({ name: 'name', id: id('name'), label: 'Name', value: name })}
  ${select({ name: 'sends', id: id('sends'), label: 'Allowed recipients', choices: SENDS.slice(1), value: rules.sends })}
  ${field({ name: 'allow', id: id('allow'), label: 'Allow list', optional: true, hint: LIST, value: rules.allow.join(', ') })}
  ${field({ name: 'block', id: id('block'), label: 'Block list', optional: true, value: rules.block.join(', ') })}
  ${checkboxes({ name: 'waits', label: 'Needs approval', choices: WAITS, ticked: waits })}`;
  return confirmedAction(visit, 'change', {
    label: 'Change',
    question: 'Applies from the next message on, wherever this policy is attached.',
    yes: 'Save',
    values: { policyId },
    body,
    calm: true,
  });
}

const LIST = 'Addresses or domains. Mail to these never needs approval because of content that the agent has read.';
const WAITS: readonly Choice[] = [
  { value: 'hold', label: 'Mail to new recipients, after reading untrusted content' },
  { value: 'rules', label: 'Forwards, webhooks, allowed senders, tokens, keys and passwords' },
];

function attachForm(visit: Visit, state: PageState, all: readonly Policy[], names: ReadonlyMap<string, string>): Html {
  const formState = formStateFor(state, 'attach');
  const targets = [...names].map(([value, label]) => ({ value, label }));
  const choices = [
    ...all.map((one) => ({ value: one.policyId, label: one.name })),
    { value: '', label: 'None (detach)' },
  ];
  return html`<section>
    <h2>Attach a policy</h2>
    <p>
      The password of a governed mailbox counts as an agent’s. If you use the mailbox too, create an app password for
      yourself first.
    </p>
    ${actionForm(
      visit,
      'attach',
      'Attach policy',
      html`<div class="row">
        ${select({ name: 'target', label: 'Mailbox or token', choices: targets }, formState)}
        ${select({ name: 'policyId', label: 'Policy', choices }, formState)}
      </div>`,
    )}
  </section>`;
}

function makeForm(visit: Visit, state: PageState, all: readonly Policy[]): Html {
  const formState = formStateFor(state, 'make');
  return html`<section>
    <h2>${all.length === 0 ? 'Create a policy' : 'Create another policy'}</h2>
    ${actionForm(
      visit,
      'make',
      'Create policy',
      html`${field({ name: 'name', label: 'Name', id: 'policy-name' }, formState)}
      ${select({ name: 'preset', label: 'Preset', choices: PRESETS }, formState)}
      ${select({ name: 'sends', label: 'Allowed recipients', choices: SENDS }, formState)}
      ${field({ name: 'allow', label: 'Allow list', optional: true, hint: LIST }, formState)}`,
    )}
  </section>`;
}
