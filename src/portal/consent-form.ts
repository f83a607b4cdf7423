import { type AuthorizeRequest, PARAMETERS, queryOf } from '../oauth/authorize-request.ts';
import { placeOf } from '../oauth/redirect-uri.ts';
import { publicId } from '../ids.ts';
import { formToken } from '../people/secrets.ts';
import type { Membership } from '../people/session-commands.ts';
import { type Action, ACTIONS, granted } from '../tokens/token.ts';
import type { Visitor } from './door.ts';
import { type Choice, checks, type Filled, hidden, problemNote } from './forms.ts';
import { type Html, html, type Part } from './html.ts';
import { facts } from './parts.ts';

/** What each action means, to somebody who never heard of actions. */
const WORDS: Readonly<Record<Action, { label: string; hint: string }>> = {
  read: { label: 'Read everything', hint: 'mail, addresses, settings, and what was done' },
  manage: {
    label: 'Change everything',
    hint: 'send, move and delete mail; mailboxes, passwords, forwards and rules. What it made stays when it goes',
  },
  deploy: { label: 'Deploy services', hint: 'change what they run with' },
  logs: { label: 'Read the logs of services', hint: '' },
  restart: { label: 'Restart services', hint: '' },
  rollback: { label: 'Put services back to what they were', hint: '' },
  send: { label: 'Send mail', hint: 'as these mailboxes' },
  mail_read: { label: 'Read mail', hint: 'and nothing else' },
};

export interface Place {
  membership: Membership;
  /** What the person may do there, and so may give. */
  actions: ReadonlySet<Action>;
  mailboxes: readonly { id: string; address: string }[];
  /** Mailboxes that are not listed, as they are too many. */
  more: boolean;
}

/** What a person decides on: who asks, for what, and where. */
export function consentForm(
  request: AuthorizeRequest,
  { visitor, place, filled }: { visitor: Visitor; place: Place; filled: Filled },
): Html {
  const { client } = request;
  return html`<div class="consent stack">
    <h1>Let this program in?</h1>
    ${problemNote(filled)}
    ${facts([
      ['It calls itself', html`<strong><bdi>${client.name}</bdi></strong>`],
      ['It comes from', client.host === null ? 'nobody knows where' : html`<strong>${client.host}</strong>`],
      ['You go back to', html`<strong>${placeOf(request.redirectUri)}</strong>`],
      ['You are', visitor.person.email],
      ['In', organizations(request, visitor, place)],
    ])}
    <div class="note warn"><p>${warning(request)}</p></div>
    <form class="sheet" method="post" action="/oauth/authorize">
      ${hidden('form', formToken(visitor.secret))} ${hidden('organization', idOf(place))}
      ${PARAMETERS.map((name) => hiddenParameter(name, request.parameters[name]))}
      ${actionChoices(request, place, filled)} ${reachChoice(place, filled)}
      <div class="acts">
        <button name="do" value="allow">Let it in</button>
        <button class="quiet" name="do" value="deny" formnovalidate>No</button>
      </div>
    </form>
    <p class="small soft">
      It stays until you end it under Connected programs, or until it asks for nothing for 30 days. It never may more
      than you may yourself.
    </p>
  </div>`;
}

function hiddenParameter(name: string, value: string | undefined): Part {
  return value !== undefined && hidden(name, value);
}

function warning({ client }: AuthorizeRequest): Part {
  const started = 'Go on only if you have just asked for this yourself, in that program.';
  if (client.host !== null) return `${client.host} answers for this name. ${started}`;
  return `Anybody can ask under any name, and nobody answers for this one. ${started}`;
}

function idOf({ membership }: Place): string {
  return publicId('organization', membership.organization);
}

function organizations(request: AuthorizeRequest, { memberships }: Visitor, { membership }: Place): Part {
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

/** What it asked for stands ticked; a person who knows better may give less, or more. */
function actionChoices({ scope }: AuthorizeRequest, { actions }: Place, filled: Filled): Part {
  const implied = granted(scope);
  const asked = ACTIONS.filter((one) => scope.includes(one) && actions.has(one));
  const others = ACTIONS.filter((one) => !implied.has(one) && actions.has(one));
  const refused = scope.filter((one) => !actions.has(one));
  return html`${asked.length > 0 && checks({ name: 'actions', label: 'It asks to', choices: asked.map(choice), ticked: asked }, filled)}
  ${
    refused.length > 0 &&
    html`<p class="hint">
      It also asks for what you may not do yourself, and so cannot give:
      ${refused.map((one) => WORDS[one].label).join(', ')}.
    </p>`
  }
  ${
    others.length > 0 &&
    html`<details class="more" ${others.some((one) => ticked(filled).includes(one)) && html`open`}>
      <summary>Give it more than it asks for</summary>
      ${checks({ name: 'actions', label: 'Also', choices: others.map(choice) }, { ...filled, errors: {} })}
    </details>`
  }`;
}

function ticked({ values }: Filled): string[] {
  return values['actions']?.split(' ') ?? [];
}

function choice(action: Action): Choice {
  const { label, hint } = WORDS[action];
  return { value: action, label, ...(hint !== '' && { hint }) };
}

/** Neither is chosen beforehand: who lets a program into everything has said so. */
function reachChoice({ membership, mailboxes, more }: Place, filled: Filled): Part {
  const limited = membership.role === 'member';
  const boxes = mailboxes.map(({ id, address }) => ({ value: id, label: address }));
  if (limited) {
    return html`${hidden('reach', 'mailboxes')}
    ${checks({ name: 'mailboxIds', label: 'In these mailboxes', choices: boxes, ticked: mailboxes.map((one) => one.id) }, filled)}`;
  }
  const radio = (value: string, label: Part): Html =>
    html`<label
      ><input
        type="radio"
        name="reach"
        value="${value}"
        required
        ${filled.values['reach'] === value && html`checked`}
      />
      <span>${label}</span></label
    >`;
  return html`<div class="where">
    <fieldset>
      <legend>Where</legend>
      <div class="checks">
        ${radio('organization', html`In all of ${membership.name} <span class="soft small">mailboxes to come, too</span>`)}
        ${mailboxes.length > 0 && radio('mailboxes', 'Only in the mailboxes that I tick')}
      </div>
      ${filled.errors['reach'] !== undefined && html`<p class="wrong">${filled.errors['reach']}</p>`}
    </fieldset>
    ${
      mailboxes.length > 0 &&
      html`<div class="picked">
        ${checks({ name: 'mailboxIds', label: 'Mailboxes', choices: boxes }, filled)}
        ${more && html`<p class="hint">There are more than fit here; for others, mint a token for them.</p>`}
      </div>`
    }
  </div>`;
}
