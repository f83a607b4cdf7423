import type { listAgentPolicies } from '../../operations/policies/people.ts';
import { address, buttonRow } from '../components.ts';
import { checkboxes, type Choice, field, type FormField, select } from '../forms.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import { confirmedAction } from '../page.ts';
import type { Translator } from '../translator.ts';
import { isAllowed, type OutputOf, type Visit } from '../visit.ts';

export type AgentPolicyRow = OutputOf<typeof listAgentPolicies>['policies'][number];

/** One policy in words, with its forms. `names`: of the mailboxes and tokens that it may be attached to. */
export function policySection(
  t: Translator,
  visit: Visit,
  one: AgentPolicyRow,
  names: ReadonlyMap<string, string>,
): Html {
  const holds = [...one.mailboxIds, ...one.tokenIds];
  const list = holds.map((id, i) => [i > 0 && ', ', address(names.get(id) ?? id)]);
  return html`<section>
    <h2>${one.name}</h2>
    <p>${holds.length === 0 ? t('policy.unattached') : t.rich('policy.attached-to', { names: list })}</p>
    ${words(t, t('policy.may'), one.may)} ${words(t, t('policy.waits'), one.waits)}
    ${words(t, t('policy.never'), one.never)}
    ${buttonRow(isAllowed(visit, 'save_agent_policy') && changeForm(t, visit, one), holds.length === 0 && removal(t, visit, one))}
  </section>`;
}

/** Sentences of the operation, which are English. */
function words(t: Translator, heading: string, all: readonly string[]): HtmlPart {
  return (
    all.length > 0 &&
    html`<h3>${heading}</h3>
      <ul>
        ${all.map((one) => html`<li>${t.english(one)}</li>`)}
      </ul>`
  );
}

function removal(t: Translator, visit: Visit, { policyId, name }: AgentPolicyRow): HtmlPart {
  return (
    isAllowed(visit, 'remove_agent_policy') &&
    confirmedAction(visit, 'remove', {
      label: t('mailbox.delete-button'),
      question: t('policy.remove-question', { name }),
      yes: t('mailbox.delete-button'),
      values: { policyId },
    })
  );
}

const SENDS = ['anybody', 'replies', 'allowed', 'nobody'] as const;

/** Choices of the recipients that an agent may write to. */
export function recipientChoices(t: Translator): Choice[] {
  return SENDS.map((value) => ({ value, label: t(`policy-sends.${value}`) }));
}

/** Field of addresses and domains whose mail is never held. */
export function allowField(t: Translator): FormField {
  return {
    name: 'allow',
    label: t('policy.allow-list'),
    optional: t('field.optional'),
    hint: t('policy.allow-hint'),
  };
}

function changeForm(t: Translator, visit: Visit, one: AgentPolicyRow): Html {
  return confirmedAction(visit, 'change', {
    label: t('member.change'),
    question: t('policy.change-question'),
    yes: t('mailbox.save'),
    values: { policyId: one.policyId },
    body: changeFields(t, one),
    calm: true,
  });
}

function changeFields(t: Translator, { policyId, name, rules }: AgentPolicyRow): Html {
  const id = (part: string): string => `${part}-${policyId}`;
  const choices = recipientChoices(t);
  const block = { name: 'block', id: id('block'), label: t('policy.block-list'), optional: t('field.optional') };
  const waits = (['hold', 'rules'] as const).map((value) => ({ value, label: t(`policy-waits.${value}`) }));
  const ticked = [...(rules.holdAfterReading ? ['hold'] : []), ...(rules.rulesWait ? ['rules'] : [])];
  return html`${field({ name: 'name', id: id('name'), label: t('account.name'), value: name })}
  ${select({ name: 'sends', id: id('sends'), label: t('policy.recipients'), choices, value: rules.sends })}
  ${field({ ...allowField(t), id: id('allow'), value: rules.allow.join(', ') })}
  ${field({ ...block, value: rules.block.join(', ') })}
  ${checkboxes({ name: 'waits', label: t('policy.waits'), choices: waits, ticked })}`;
}
