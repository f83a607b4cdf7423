import type { createDeviceLink } from '../../../operations/mailboxes/device-link.ts';
import type { verifyEmailDomain } from '../../../operations/domains/verify.ts';
import { type Translator, translatorOf } from '../../translator.ts';
import { OPERATOR } from '../../../../mail/store/account/account.ts';
import { field } from '../../forms.ts';
import { type Html, html, type HtmlPart } from '../../html.ts';
import { actionButton, actionForm, formStateFor, operationAction, type Page, type PageState } from '../../page.ts';
import { pageHead, tag } from '../../components.ts';
import { type OutputOf, isAllowed, type Visit } from '../../visit.ts';
import { devicePanel } from '../device-panel.ts';
import { DNS_ACTIONS, DNS_NOTICES } from '../domain-dns.ts';
import { dnsWays } from './dns-ways.ts';
import { connectAndPublish, publishAndVerify } from './provider-actions.ts';
import { doneSteps, readSetup, SETUP_STEPS, type SetupState, type SetupStep } from './setup-state.ts';

/** From an empty organization to a mailbox on a phone, step by step. */
export const setup: Page = {
  path: '/setup',
  name: 'Setup',
  translated: true,
  menu: null,
  needs: 'add_email_domain',
  notices: {
    claimed: { message: 'setup.claimed' },
    added: { message: 'setup.added' },
    verified: { message: 'domain.verified' },
    checked: { message: 'setup.checked' },
    made: { message: 'setup.made' },
    ...DNS_NOTICES,
  },
  actions: {
    domain: operationAction('add_email_domain', 'added', (fields) => ({ domain: fields.line('domain') ?? '' })),
    verify: operationAction(
      'verify_email_domain',
      (result) => {
        const { verified } = result as OutputOf<typeof verifyEmailDomain>;
        return { kind: 'done', notice: verified ? 'verified' : 'checked' };
      },
      ['domainId'],
    ),
    ...DNS_ACTIONS,
    connect: connectAndPublish,
    publish: publishAndVerify,
    mailbox: operationAction('provision_email', 'made', (fields) => ({
      domainId: fields.line('domainId'),
      localPart: fields.line('localPart') ?? '',
      displayName: fields.line('displayName'),
    })),
    phone: operationAction(
      'create_device_link',
      (result, { request }) => ({
        kind: 'shown',
        panel: devicePanel(translatorOf(request), result as OutputOf<typeof createDeviceLink>),
      }),
      (fields) => ({ mailboxId: fields.line('mailboxId'), name: fields.line('name') ?? '' }),
    ),
  },
  async show(visit, state) {
    const found = await readSetup(visit);
    const t = translatorOf(visit.request);
    const done = doneSteps(found);
    const next = SETUP_STEPS.find((step) => !done.includes(step));
    const about =
      next === undefined
        ? html`${t('setup.all-done')} <a href="${visit.base}">${t('setup.back')}</a>`
        : t('setup.next', { done: done.length, all: SETUP_STEPS.length, step: t(`setup-step.${next}`) });
    const sections = SETUP_STEPS.map((step, i) =>
      section(t, `${i + 1}. ${t(`setup-step.${step}`)}`, done.includes(step), BODIES[step](t, visit, state, found)),
    );
    return html`${pageHead(t('page.Setup'), about)} ${sections}`;
  },
};

/** Link to the set-up while a step is open. */
export async function setupNote(visit: Visit): Promise<HtmlPart> {
  if (!isAllowed(visit, setup.needs)) return undefined;
  const t = translatorOf(visit.request);
  const done = doneSteps(await readSetup(visit));
  // A team that uses computers only has no device with an app password.
  const open = SETUP_STEPS.filter((step) => step !== 'phone' && !done.includes(step));
  return (
    open.length > 0 &&
    html`<div class="note">
      <p>
        ${t('overview.setup', { done: done.length, all: SETUP_STEPS.length })}
        <a href="${visit.base}/setup">${t('button.continue')}</a>
      </p>
    </div>`
  );
}

function section(t: Translator, title: string, isDone: boolean, body: HtmlPart): Html {
  return html`<section>
    <h2>${title} ${isDone ? tag(t('setup.done'), 'ok') : tag(t('setup.open'), 'warn')}</h2>
    ${body}
  </section>`;
}

type StepBody = (t: Translator, visit: Visit, state: PageState, found: SetupState) => HtmlPart;

const BODIES: Readonly<Record<SetupStep, StepBody>> = {
  owner: (t, { visitor: { person }, membership, base }) => [
    html`<p>${t(`setup-you.${membership.role}`, { email: person.email, organization: membership.name })}</p>`,
    membership.organization === OPERATOR &&
      html`<p>${t.rich('setup.health', { health: html`<a href="${base}/health">${t('page.Health')}</a>` })}</p>`,
  ],
  domain: domainStep,
  dns: dnsStep,
  mailbox: mailboxStep,
  phone: phoneStep,
};

function domainStep(t: Translator, visit: Visit, state: PageState, { domain }: SetupState): HtmlPart {
  if (domain !== undefined) {
    const href = `${visit.base}/domains/${domain.domain.id}`;
    return html`<p><a href="${href}">${domain.domain.domain}</a></p>`;
  }
  const one = { name: 'domain', label: t('page.Domain'), placeholder: 'example.com', hint: t('domains.hint') };
  return actionForm(visit, 'domain', t('domains.add-button'), field(one, formStateFor(state, 'domain')));
}

function dnsStep(t: Translator, visit: Visit, state: PageState, { domain, provider }: SetupState): HtmlPart {
  if (domain === undefined) return afterDomain(t);
  if (domain.domain.dnsManaged) return html`<p>${t('setup.served')}</p>`;
  if (domain.domain.status === 'verified') return html`<p>${t('setup.records-published')}</p>`;
  const check = actionButton(visit, 'verify', t('domain.check'), { domainId: domain.domain.id }, '');
  return html`${dnsWays({ visit, state, domain, provider })}
    <p>${check}</p>`;
}

const afterDomain = (t: Translator): Html => html`<p class="soft">${t('setup.after-domain')}</p>`;

function mailboxStep(t: Translator, visit: Visit, state: PageState, { domain, mailbox }: SetupState): HtmlPart {
  if (mailbox !== undefined) return html`<p><a href="${visit.base}/mailboxes/${mailbox.id}">${mailbox.address}</a></p>`;
  if (domain === undefined) return afterDomain(t);
  const form = formStateFor(state, 'mailbox');
  const label = t('setup.before-at', { domain: domain.domain.domain });
  const name = { name: 'localPart', label, placeholder: t('setup.local-part') };
  const optional = t('field.optional');
  const person = { name: 'displayName', label: t('account.name'), optional, hint: t('mailboxes.name-hint') };
  return actionForm(visit, 'mailbox', t('mailboxes.create'), [field(name, form), field(person, form)], {
    domainId: domain.domain.id,
  });
}

function phoneStep(t: Translator, visit: Visit, state: PageState, { mailbox, device }: SetupState): HtmlPart {
  if (mailbox === undefined) return html`<p class="soft">${t('setup.after-mailbox')}</p>`;
  const href = `${visit.base}/mailboxes/${mailbox.id}`;
  if (device) return html`<p>${t('setup.connected')} <a href="${href}">${t('setup.another')}</a></p>`;
  const name = { name: 'name', label: t('devices.device'), hint: t('setup.device-hint') };
  const link = html`<a href="${href}">${t('setup.show-password')}</a>`;
  return html`<p>${t('setup.phone-about')}</p>
    ${actionForm(visit, 'phone', t('setup.qr'), field(name, formStateFor(state, 'phone')), { mailboxId: mailbox.id })}
    <p class="small">${t.rich('setup.or', { link })}</p>`;
}
