import type { listAgentTokens } from '../../operations/organization/tokens.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { listAgentPolicies } from '../../operations/policies/people.ts';
import { type Choice, checks, field, select } from '../forms.ts';
import { html, type Html, type Part } from '../html.ts';
import { acting, filledFor, type Page, sheet, type State, sure } from '../page.ts';
import { acts, address, empty, head } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';
import { attach, change, make } from './policy-acts.ts';

type Policy = Answer<typeof listAgentPolicies>['policies'][number];

/** What owners decide about agents: policies, and where each holds. */
export const policies: Page = {
  path: '/agent-policies',
  name: 'Agent policies',
  menu: 'Programs',
  needs: 'list_agent_policies',
  notForMembers: true,
  done: {
    made: 'The policy is there. It holds nowhere until you put a mailbox or a token under it.',
    changed: 'The change holds from the next message on.',
    attached: 'It holds from now on.',
    removed: 'The policy is removed.',
  },
  acts: {
    make,
    change,
    attach,
    remove: acting(
      'remove_agent_policy',
      (fields) => ({ policyId: fields.text('policyId') }),
      () => ({ kind: 'done', said: 'removed' }),
    ),
  },
  async show(visit, state) {
    const [listed, mailboxes, tokens] = await Promise.all([
      read<typeof listAgentPolicies>(visit, 'list_agent_policies', {}),
      read<typeof listEmails>(visit, 'list_emails', { limit: 100 }),
      read<typeof listAgentTokens>(visit, 'list_agent_tokens', { limit: 100 }),
    ]);
    const all = listed?.policies ?? [];
    const live = (tokens?.tokens ?? []).filter((one) => !one.revoked);
    const names = new Map([
      ...(mailboxes?.mailboxes ?? []).map((one) => [one.id, one.address] as const),
      ...live.map((one) => [one.id, `token ${one.name}`] as const),
    ]);
    return html`${head('Agent policies', ABOUT)} ${all.length === 0 ? NONE : all.map((one) => shown(visit, one, names))}
    ${can(visit, 'attach_agent_policy') && all.length > 0 && attachForm(visit, state, all, names)}
    ${can(visit, 'save_agent_policy') && makeForm(visit, state, all)}`;
  },
};

const ABOUT =
  'What agents may do by themselves, what waits for you, and what is never possible. Where a token and its mailbox both have a policy the stricter one holds.';
const NONE = empty(
  'No policy yet',
  'Without one an agent may write to anybody, and mail to strangers waits for you after it has read what outsiders wrote.',
);

const PRESETS: readonly Choice[] = [
  { value: 'trusted-internal', label: 'Trusted, inside: writes to anybody, meets strangers slowly' },
  { value: 'support-desk', label: 'Support desk: only answers who wrote first' },
  { value: 'signup-bot', label: 'Sign-up bot: receives mail and codes, sends nothing' },
  { value: 'custom', label: 'Your own' },
];
const SENDS: readonly Choice[] = [
  { value: '', label: 'As the preset says' },
  { value: 'anybody', label: 'Anybody' },
  { value: 'replies', label: 'Only who wrote first' },
  { value: 'allowed', label: 'Only those on the list' },
  { value: 'nobody', label: 'Nobody' },
];

function shown(visit: Visit, one: Policy, names: ReadonlyMap<string, string>): Html {
  const holds = [...one.mailboxIds, ...one.tokenIds];
  return html`<section>
    <h2>${one.name}</h2>
    <p>
      ${
        holds.length === 0
          ? 'It holds nowhere.'
          : ['It holds for ', holds.map((id, i) => [i > 0 && ', ', address(names.get(id) ?? id)]), '.']
      }
    </p>
    ${words('It may', one.may)} ${words('Waits for you', one.waits)} ${words('Never', one.never)}
    ${acts(can(visit, 'save_agent_policy') && changeForm(visit, one), holds.length === 0 && removal(visit, one))}
  </section>`;
}

function words(heading: string, all: readonly string[]): Part {
  return (
    all.length > 0 &&
    html`<h3>${heading}</h3>
      <ul>
        ${all.map((one) => html`<li>${one}</li>`)}
      </ul>`
  );
}

function removal(visit: Visit, { policyId, name }: Policy): Part {
  return (
    can(visit, 'remove_agent_policy') &&
    sure(visit, 'remove', { label: 'Remove', question: `${name} is gone.`, yes: 'Remove it', values: { policyId } })
  );
}

function changeForm(visit: Visit, { policyId, name, rules }: Policy): Html {
  const id = (part: string): string => `${part}-${policyId}`;
  const waits = [...(rules.holdAfterReading ? ['hold'] : []), ...(rules.rulesWait ? ['rules'] : [])];
  const body = html`${field({ name: 'name', id: id('name'), label: 'Name', value: name })}
  ${select({ name: 'sends', id: id('sends'), label: 'It may write to', choices: SENDS.slice(1), value: rules.sends })}
  ${field({ name: 'allow', id: id('allow'), label: 'The list', optional: true, hint: LIST, value: rules.allow.join(', ') })}
  ${field({ name: 'block', id: id('block'), label: 'Never to', optional: true, value: rules.block.join(', ') })}
  ${checks({ name: 'waits', label: 'It waits for you', choices: WAITS, ticked: waits })}`;
  return sure(visit, 'change', {
    label: 'Change',
    question: 'It holds from the next message on, wherever this policy is.',
    yes: 'Save',
    values: { policyId },
    body,
    calm: true,
  });
}

const LIST = 'Addresses or domains. Mail to these never waits because of what the agent has read.';
const WAITS: readonly Choice[] = [
  { value: 'hold', label: 'Mail to strangers, after it has read what outsiders wrote' },
  { value: 'rules', label: 'Forwards, webhooks, allowed senders, tokens, keys and passwords' },
];

function attachForm(visit: Visit, state: State, all: readonly Policy[], names: ReadonlyMap<string, string>): Html {
  const filled = filledFor(state, 'attach');
  const targets = [...names].map(([value, label]) => ({ value, label }));
  const choices = [
    ...all.map((one) => ({ value: one.policyId, label: one.name })),
    { value: '', label: 'None: take its policy away' },
  ];
  return html`<section>
    <h2>Put a mailbox or a token under a policy</h2>
    <p>
      The password of a mailbox under a policy counts as an agent’s. Make an app password for yourself before, if you
      read it too.
    </p>
    ${sheet(
      visit,
      'attach',
      'Put it there',
      html`<div class="row">
        ${select({ name: 'target', label: 'Mailbox or token', choices: targets }, filled)}
        ${select({ name: 'policyId', label: 'Policy', choices }, filled)}
      </div>`,
    )}
  </section>`;
}

function makeForm(visit: Visit, state: State, all: readonly Policy[]): Html {
  const filled = filledFor(state, 'make');
  return html`<section>
    <h2>${all.length === 0 ? 'Make the first one' : 'Make another one'}</h2>
    ${sheet(
      visit,
      'make',
      'Make the policy',
      html`<div class="row">
          ${field({ name: 'name', label: 'Name', id: 'policy-name' }, filled)}
          ${select({ name: 'preset', label: 'Begin with', choices: PRESETS }, filled)}
        </div>
        ${select({ name: 'sends', label: 'It may write to', choices: SENDS }, filled)}
        ${field({ name: 'allow', label: 'The list', optional: true, hint: LIST }, filled)}`,
    )}
  </section>`;
}
