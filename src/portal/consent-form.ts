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

/** Each action in plain words. */
const WORDS: Readonly<Record<Action, { label: string; hint: string }>> = {
  read: { label: 'Read everything', hint: 'mail, addresses, settings and the audit log' },
  manage: {
    label: 'Change everything',
    hint: 'send, move and delete mail; mailboxes, passwords, forwards and rules. Its changes stay after you disconnect it',
  },
  deploy: { label: 'Deploy services', hint: 'change their revision and environment' },
  logs: { label: 'Read the logs of services', hint: '' },
  restart: { label: 'Restart services', hint: '' },
  rollback: { label: 'Roll back services', hint: '' },
  send: { label: 'Send mail', hint: 'as these mailboxes' },
  mail_read: { label: 'Read mail', hint: 'read-only' },
  organize: { label: 'Organize mail', hint: 'mark, label, move, trash and restore it' },
};

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
  request: AuthorizeRequest,
  { visitor, place, filled: formState }: { visitor: Visitor; place: ConsentScope; filled: FormState },
): Html {
  const { client } = request;
  return html`<div class="consent stack">
    <h1>Allow access?</h1>
    ${problemNote(formState)}
    ${descriptionList([
      ['Name', html`<strong><bdi>${client.name}</bdi></strong>`],
      ['Host', client.host === null ? 'Unknown' : html`<strong>${client.host}</strong>`],
      ['Redirects to', html`<strong>${describeRedirect(request.redirectUri)}</strong>`],
      ['Signed in as', visitor.person.email],
      ['Organization', organizations(request, visitor, place)],
    ])}
    <div class="note warn"><p>${warning(request)}</p></div>
    <form class="sheet" method="post" action="/oauth/authorize">
      ${hidden('form', formToken(visitor.secret))} ${hidden('organization', idOf(place))}
      ${PARAMETERS.map((name) => hiddenParameter(name, request.parameters[name]))}
      ${actionChoices(request, place, formState)} ${reachChoice(place, formState)}
      <div class="acts">
        <button name="do" value="allow">Allow</button>
        <button class="quiet" name="do" value="deny" formnovalidate>Deny</button>
      </div>
    </form>
    <p class="small soft">
      Access lasts until you disconnect it under Connected programs, or until it is unused for 30 days. It never exceeds
      your own permissions.
    </p>
  </div>`;
}

function hiddenParameter(name: string, value: string | undefined): HtmlPart {
  return value !== undefined && hidden(name, value);
}

function warning({ client }: AuthorizeRequest): HtmlPart {
  const started = 'Continue only if you just started this yourself in that program.';
  if (client.host !== null) return `${client.host} vouches for this name. ${started}`;
  return `This name is not verified: anybody can register any name. ${started}`;
}

function idOf({ membership }: ConsentScope): string {
  return publicId('organization', membership.organization);
}

function organizations(request: AuthorizeRequest, { memberships }: Visitor, { membership }: ConsentScope): HtmlPart {
  const others = memberships.filter((one) => !one.frozen && one.organization !== membership.organization);
  const query = queryOf(request.parameters);
  return html`<strong>${membership.name}</strong> ${
      others.length > 0 &&
      html`<span class="small soft">
        or
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
function actionChoices({ scope }: AuthorizeRequest, { actions }: ConsentScope, formState: FormState): HtmlPart {
  const implied = expandActions(scope);
  const exchange = ACTIONS.filter((one) => scope.includes(one) && actions.has(one));
  const others = ACTIONS.filter((one) => !implied.has(one) && actions.has(one));
  const refused = scope.filter((one) => !actions.has(one));
  return html`${exchange.length > 0 && checkboxes({ name: 'actions', label: 'Requested permissions', choices: exchange.map(choice), ticked: exchange }, formState)}
  ${
    refused.length > 0 &&
    html`<p class="hint">
      Requested, but beyond your own permissions: ${refused.map((one) => WORDS[one].label).join(', ')}.
    </p>`
  }
  ${
    others.length > 0 &&
    html`<details class="more" ${others.some((one) => ticked(formState).includes(one)) && html`open`}>
      <summary>Grant more than requested</summary>
      ${checkboxes({ name: 'actions', label: 'Additional permissions', choices: others.map(choice) }, { ...formState, errors: {} })}
    </details>`
  }`;
}

function ticked({ values }: FormState): string[] {
  return values['actions']?.split(' ') ?? [];
}

function choice(action: Action): Choice {
  const { label, hint } = WORDS[action];
  return { value: action, label, ...(hint !== '' && { hint }) };
}

/** Radio buttons for the scope. None is preselected: access to the whole organization must be an explicit choice. */
function reachChoice({ membership, mailboxes, isTruncated: more }: ConsentScope, formState: FormState): HtmlPart {
  const limited = membership.role === 'member';
  const boxes = mailboxes.map(({ id, address }) => ({ value: id, label: address }));
  if (limited) {
    return html`${hidden('reach', 'mailboxes')}
    ${checkboxes({ name: 'mailboxIds', label: 'Mailboxes', choices: boxes, ticked: mailboxes.map((one) => one.id) }, formState)}`;
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
      <legend>Scope</legend>
      <div class="checks">
        ${radio('organization', html`All of ${membership.name} <span class="soft small">including future mailboxes</span>`)}
        ${mailboxes.length > 0 && radio('mailboxes', 'Only the selected mailboxes')}
      </div>
      ${formState.errors['reach'] !== undefined && html`<p class="wrong">${formState.errors['reach']}</p>`}
    </fieldset>
    ${
      mailboxes.length > 0 &&
      html`<div class="picked">
        ${checkboxes({ name: 'mailboxIds', label: 'Mailboxes', choices: boxes }, formState)}
        ${more && html`<p class="hint">Not all mailboxes are listed. For others, create a token.</p>`}
      </div>`
    }
  </div>`;
}
