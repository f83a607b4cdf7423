import type { createDeviceLink } from '../../../operations/mailboxes/device-link.ts';
import type { verifyEmailDomain } from '../../../operations/domains/verify.ts';
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

const TITLES: Readonly<Record<SetupStep, string>> = {
  owner: 'Owner',
  domain: 'Domain',
  dns: 'DNS records',
  mailbox: 'First mailbox',
  phone: 'Phone or mail program',
};

/** From an empty organization to a mailbox on a phone, step by step. */
export const setup: Page = {
  path: '/setup',
  name: 'Set-up',
  menu: null,
  needs: 'add_email_domain',
  notices: {
    claimed: 'The server is yours. Set up your first domain below.',
    added: 'Domain added.',
    verified: 'Domain verified. It can send and receive mail.',
    checked: 'Records checked. Missing or wrong ones are marked below; new records can take an hour to be seen.',
    made: 'Mailbox created.',
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
      (result) => ({ kind: 'shown', panel: devicePanel(result as OutputOf<typeof createDeviceLink>) }),
      (fields) => ({ mailboxId: fields.line('mailboxId'), name: fields.line('name') ?? '' }),
    ),
  },
  async show(visit, state) {
    const found = await readSetup(visit);
    const done = doneSteps(found);
    const next = SETUP_STEPS.find((step) => !done.includes(step));
    const about =
      next === undefined
        ? html`All steps are done. <a href="${visit.base}">Back to the overview</a>`
        : `${done.length} of ${SETUP_STEPS.length} steps done. Next: ${TITLES[next]}.`;
    const sections = SETUP_STEPS.map((step, i) =>
      section(`${i + 1}. ${TITLES[step]}`, done.includes(step), BODIES[step](visit, state, found)),
    );
    return html`${pageHead('Set-up', about)} ${sections}`;
  },
};

/** Link to the set-up while a step is open. */
export async function setupNote(visit: Visit): Promise<HtmlPart> {
  if (!isAllowed(visit, setup.needs)) return undefined;
  const done = doneSteps(await readSetup(visit));
  // A team that uses computers only has no device with an app password.
  const open = SETUP_STEPS.filter((step) => step !== 'phone' && !done.includes(step));
  return (
    open.length > 0 &&
    html`<div class="note">
      <p>Set-up: ${done.length} of ${SETUP_STEPS.length} steps done. <a href="${visit.base}/setup">Continue</a></p>
    </div>`
  );
}

function section(title: string, isDone: boolean, body: HtmlPart): Html {
  return html`<section>
    <h2>${title} ${isDone ? tag('Done', 'ok') : tag('Open', 'warn')}</h2>
    ${body}
  </section>`;
}

type StepBody = (visit: Visit, state: PageState, found: SetupState) => HtmlPart;

const BODIES: Readonly<Record<SetupStep, StepBody>> = {
  owner: ({ visitor: { person }, membership, base }) => [
    html`<p>You are ${person.email}, ${membership.role} of ${membership.name}.</p>`,
    membership.organization === OPERATOR &&
      html`<p>
        Ports, certificate, reverse name and blocklists: <a href="${base}/health">Health</a> says what is missing.
      </p>`,
  ],
  domain: domainStep,
  dns: dnsStep,
  mailbox: mailboxStep,
  phone: phoneStep,
};

function domainStep(visit: Visit, state: PageState, { domain }: SetupState): HtmlPart {
  if (domain !== undefined) {
    const href = `${visit.base}/domains/${domain.domain.id}`;
    return html`<p><a href="${href}">${domain.domain.domain}</a></p>`;
  }
  const one = { name: 'domain', label: 'Domain', placeholder: 'example.com', hint: 'A domain whose DNS you control.' };
  return actionForm(visit, 'domain', 'Add domain', field(one, formStateFor(state, 'domain')));
}

function dnsStep(visit: Visit, state: PageState, { domain, provider }: SetupState): HtmlPart {
  if (domain === undefined) return AFTER_DOMAIN;
  if (domain.domain.dnsManaged) return html`<p>This server is the name server of the domain. Nothing to publish.</p>`;
  if (domain.domain.status === 'verified') return html`<p>The required records are published.</p>`;
  const check = actionButton(visit, 'verify', 'Check DNS', { domainId: domain.domain.id }, '');
  return html`${dnsWays({ visit, state, domain, provider })}
    <p>${check}</p>`;
}

const AFTER_DOMAIN = html`<p class="soft">After the domain is added.</p>`;

function mailboxStep(visit: Visit, state: PageState, { domain, mailbox }: SetupState): HtmlPart {
  if (mailbox !== undefined) return html`<p><a href="${visit.base}/mailboxes/${mailbox.id}">${mailbox.address}</a></p>`;
  if (domain === undefined) return AFTER_DOMAIN;
  const form = formStateFor(state, 'mailbox');
  const name = { name: 'localPart', label: `Address, before @${domain.domain.domain}`, placeholder: 'you' };
  const person = { name: 'displayName', label: 'Name', optional: true, hint: 'Display name of its user.' };
  return actionForm(visit, 'mailbox', 'Create mailbox', [field(name, form), field(person, form)], {
    domainId: domain.domain.id,
  });
}

function phoneStep(visit: Visit, state: PageState, { mailbox, device }: SetupState): HtmlPart {
  if (mailbox === undefined) return html`<p class="soft">After the mailbox is created.</p>`;
  if (device)
    return html`<p>A device is connected. <a href="${visit.base}/mailboxes/${mailbox.id}">Add another</a></p>`;
  const name = { name: 'name', label: 'Device', hint: 'Such as "phone of Kim".' };
  return html`<p>Creates a link that sets up one device, with an app password of its own.</p>
    ${actionForm(visit, 'phone', 'Show QR code', field(name, formStateFor(state, 'phone')), { mailboxId: mailbox.id })}
    <p class="small">
      Or <a href="${visit.base}/mailboxes/${mailbox.id}">show the password</a> to enter it in a mail program.
    </p>`;
}
