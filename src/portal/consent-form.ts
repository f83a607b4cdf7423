import { type AuthorizeRequest, PARAMETERS, queryOf } from '../oauth/authorize-request.ts';
import { describeRedirect } from '../oauth/redirect-uri.ts';
import { publicId } from '../core/ids.ts';
import { formToken } from '../people/secrets.ts';
import type { Membership } from '../people/session-commands.ts';
import { type Action, ACTIONS, expandActions } from '../core/token.ts';
import type { Visitor } from './page-exchange.ts';
import { type Choice, checkboxes, type FormState, hidden, problemNote } from './forms.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { descriptionList } from './components.ts';
import type { PlainPortalKey } from './message-types.ts';
import type { Translator } from './translator.ts';

/** Actions whose label alone would not tell what they allow. */
const HINTS = {
  read: 'permission.read-hint',
  manage: 'permission.manage-hint',
  deploy: 'permission.deploy-hint',
  send: 'permission.send-hint',
  mail_read: 'permission.mail_read-hint',
  organize: 'permission.organize-hint',
} as const satisfies Partial<Readonly<Record<Action, PlainPortalKey>>>;

export interface ConsentScope {
  membership: Membership;
  /** The person's own actions: the most that can be granted. */
  actions: ReadonlySet<Action>;
  mailboxes: readonly { id: string; address: string }[];
  /** True if there are more mailboxes than listed. */
  isTruncated: boolean;
}

/** The consent page: client, requested scopes and organization. */
export function consentForm(
  t: Translator,
  request: AuthorizeRequest,
  { visitor, place, filled: formState }: { visitor: Visitor; place: ConsentScope; filled: FormState },
): Html {
  const { client } = request;
  return html`<div class="consent stack">
    <h1>${t('consent.title')}</h1>
    ${problemNote(formState)}
    ${descriptionList([
      [t('consent.name'), html`<strong><bdi>${client.name}</bdi></strong>`],
      [t('consent.host'), client.host === null ? t('consent.unknown-host') : html`<strong>${client.host}</strong>`],
      [t('consent.redirects'), html`<strong>${describeRedirect(request.redirectUri)}</strong>`],
      [t('consent.signed-in'), visitor.person.email],
      [t('layout.organization'), organizations(t, request, visitor, place)],
    ])}
    <div class="note warn"><p>${warning(t, request)}</p></div>
    <form class="sheet" method="post" action="/oauth/authorize">
      ${hidden('form', formToken(visitor.secret))} ${hidden('organization', idOf(place))}
      ${PARAMETERS.map((name) => hiddenParameter(name, request.parameters[name]))}
      ${actionChoices(t, request, place, formState)} ${reachChoice(t, place, formState)}
      <div class="acts">
        <button name="do" value="allow">${t('consent.allow')}</button>
        <button class="quiet" name="do" value="deny" formnovalidate>${t('consent.deny')}</button>
      </div>
    </form>
    <p class="small soft">${t('consent.lasts')}</p>
  </div>`;
}

function hiddenParameter(name: string, value: string | undefined): HtmlPart {
  return value !== undefined && hidden(name, value);
}

function warning(t: Translator, { client }: AuthorizeRequest): HtmlPart {
  return client.host === null ? t('consent.unverified-name') : t('consent.verified-name', { host: client.host });
}

function idOf({ membership }: ConsentScope): string {
  return publicId('organization', membership.organization);
}

function organizations(
  t: Translator,
  request: AuthorizeRequest,
  { memberships }: Visitor,
  { membership }: ConsentScope,
): HtmlPart {
  const others = memberships.filter((one) => !one.frozen && one.organization !== membership.organization);
  const query = queryOf(request.parameters);
  return html`<strong>${membership.name}</strong> ${
      others.length > 0 &&
      html`<span class="small soft">
        ${t('consent.or')}
        ${others.map(
          ({ name, organization }, i) =>
            html`${i > 0 && ', '}<a
                href="/oauth/authorize?${query}&organization=${publicId('organization', organization)}"
                >${name}</a
              >`,
        )}
      </span>`
    }`;
}

/** Checkboxes for the actions. Requested ones are checked; the person may grant fewer or more. */
function actionChoices(
  t: Translator,
  { scope }: AuthorizeRequest,
  { actions }: ConsentScope,
  formState: FormState,
): HtmlPart {
  const implied = expandActions(scope);
  const exchange = ACTIONS.filter((one) => scope.includes(one) && actions.has(one));
  const others = ACTIONS.filter((one) => !implied.has(one) && actions.has(one));
  const refused = scope.filter((one) => !actions.has(one));
  return html`${exchange.length > 0 && checkboxes({ name: 'actions', label: t('consent.requested'), choices: exchange.map((one) => choice(t, one)), ticked: exchange }, formState)}
  ${
    refused.length > 0 &&
    html`<p class="hint">
      ${t('consent.beyond', { permissions: t.list(refused.map((one) => t(`permission.${one}`))) })}
    </p>`
  }
  ${
    others.length > 0 &&
    html`<details class="more" ${others.some((one) => ticked(formState).includes(one)) && html`open`}>
      <summary>${t('consent.more')}</summary>
      ${checkboxes({ name: 'actions', label: t('consent.additional'), choices: others.map((one) => choice(t, one)) }, { ...formState, errors: {} })}
    </details>`
  }`;
}

function ticked({ values }: FormState): string[] {
  return values['actions']?.split(' ') ?? [];
}

function choice(t: Translator, action: Action): Choice {
  const hint = (HINTS as Partial<Record<Action, PlainPortalKey>>)[action];
  return { value: action, label: t(`permission.${action}`), ...(hint !== undefined && { hint: t(hint) }) };
}

/** Radio buttons for the scope. None is preselected: access to the whole organization must be an explicit choice. */
function reachChoice(
  t: Translator,
  { membership, mailboxes, isTruncated: more }: ConsentScope,
  formState: FormState,
): HtmlPart {
  const limited = membership.role === 'member';
  const boxes = mailboxes.map(({ id, address }) => ({ value: id, label: address }));
  if (limited) {
    return html`${hidden('reach', 'mailboxes')}
    ${checkboxes({ name: 'mailboxIds', label: t('consent.mailboxes'), choices: boxes, ticked: mailboxes.map((one) => one.id) }, formState)}`;
  }
  const radio = (value: string, label: HtmlPart): Html =>
    html`<label
      ><input
        type="radio"
        name="reach"
        value="${value}"
        required
        ${formState.values['reach'] === value && html`checked`}
      />
      <span>${label}</span></label
    >`;
  return html`<div class="where">
    <fieldset>
      <legend>${t('consent.scope')}</legend>
      <div class="checks">
        ${radio('organization', html`${t('consent.all-of', { organization: membership.name })} <span class="soft small">${t('consent.future')}</span>`)}
        ${mailboxes.length > 0 && radio('mailboxes', t('consent.only-selected'))}
      </div>
      ${formState.errors['reach'] !== undefined && html`<p class="wrong">${formState.errors['reach']}</p>`}
    </fieldset>
    ${
      mailboxes.length > 0 &&
      html`<div class="picked">
        ${checkboxes({ name: 'mailboxIds', label: t('consent.mailboxes'), choices: boxes }, formState)}
        ${more && html`<p class="hint">${t('consent.not-all')}</p>`}
      </div>`
    }
  </div>`;
}
