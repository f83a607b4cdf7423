import type { FastifyInstance, FastifyReply } from 'fastify';
import { rowId } from '../ids.ts';
import { passwordProblem } from '../people/password.ts';
import { changePassword } from '../people/password-commands.ts';
import { mailProof } from '../people/proof.ts';
import { formToken, isFormToken } from '../people/secrets.ts';
import { endSessions, listSessions } from '../people/session-commands.ts';
import { NEW_PASSWORD } from './claim-pages.ts';
import { type Asked, type Door, go, send, sendNotice, type Visitor, visitorOf } from './door.ts';
import { type Filled, field, hidden, problemNote, UNFILLED, whosePassword } from './forms.ts';
import { Fields } from './guard.ts';
import { type Html, html, type Part } from './html.ts';
import { fullPage } from './layout.ts';
import { BUSY } from './link-page.ts';
import { around } from './organization-routes.ts';
import { checkOwn } from './own-password.ts';
import { sessionList } from './session-list.ts';
import { empty, head, table, tag } from './parts.ts';
import { pathOf } from './visit.ts';

const DONE: Readonly<Record<string, string>> = {
  password: 'Your new password is set. Every other browser was signed out.',
  ended: 'The session is ended.',
  others: 'Every other browser is signed out.',
  mailed: 'A link is on its way to your address. It is good for a day.',
  limited: 'Your address had its letters for today. Try again tomorrow.',
  proven: 'Your address is proved: what owners are told comes to it, and a forgotten password can be replaced by mail.',
};

/** `/account`: a person's own password and sessions, whatever organizations they belong to. */
export function accountRoutes(door: Door): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/account', async (request, reply) => {
      const asked = { ...door, request, reply };
      const visitor = await visitorOf(asked);
      return visitor === undefined ? go(asked, '/login?next=/account') : accountPage(asked, visitor, UNFILLED);
    });
    app.post('/account', async (request, reply) => {
      const asked = { ...door, request, reply };
      const visitor = await visitorOf(asked);
      return visitor === undefined ? go(asked, '/login?next=/account') : act(asked, visitor);
    });
  };
}

async function act(asked: Asked, visitor: Visitor): Promise<FastifyReply> {
  const fields = new Fields(asked.request.body);
  if (!isFormToken(fields.text('form'), visitor.secret)) {
    const text = 'The form was older than your sign-in. Load the page again and repeat what you did.';
    const notice = { title: 'Nothing was done', text, href: '/account', link: 'Load the page again' };
    return sendNotice(asked, notice, 403);
  }
  const { store } = asked.world;
  const user = visitor.person.id;
  switch (fields.text('do')) {
    case 'password':
      return setPassword(asked, visitor, fields);
    case 'end': {
      const id = rowId('session', fields.text('session'));
      if (id !== undefined) await store.write(endSessions, { user, id });
      return go(asked, '/account?done=ended');
    }
    case 'others':
      await store.write(endSessions, { user, keep: visitor.session.id });
      return go(asked, '/account?done=others');
    case 'prove': {
      const done = await mailProof(asked.world, visitor.person);
      return go(asked, `/account?done=${done === 'sent' ? 'mailed' : 'limited'}`);
    }
    default:
      return go(asked, '/account');
  }
}

async function setPassword(asked: Asked, visitor: Visitor, fields: Fields): Promise<FastifyReply> {
  const { person, session } = visitor;
  const again = (errors: Filled['errors'], problem?: string): Promise<FastifyReply> =>
    accountPage(asked, visitor, { values: {}, errors, problem }, 422);
  const wrong = await checkOwn(asked, visitor, fields.text('current'));
  if (wrong !== undefined) return again({ current: wrong });
  const problem = passwordProblem(fields.text('password'));
  if (problem !== undefined) return again({ password: problem });
  const password = await asked.desk.passwords.hash(fields.text('password'));
  if (password === undefined) return again({}, BUSY);
  const input = { user: person.id, expected: person.password, password, session: session.id };
  const done = await asked.world.store.write(changePassword, input);
  switch (done.kind) {
    case 'changed':
      return go(asked, '/account?done=password');
    case 'stale':
      return again({}, 'Your password was changed at the same moment elsewhere.');
    case 'taken':
      return again({}, 'Another account signs in with this address already.');
  }
}

async function accountPage(asked: Asked, visitor: Visitor, filled: Filled, status = 200): Promise<FastifyReply> {
  const { done } = asked.request.query as Record<string, unknown>;
  const said = typeof done === 'string' ? DONE[done] : undefined;
  const { store, clock } = asked.world;
  const sessions = await store.read(listSessions, { user: visitor.person.id, now: clock() });
  const body = html`${said !== undefined && html`<div class="note" role="status"><p>${said}</p></div>`}
  ${problemNote(filled)} ${head('Your account', visitor.person.email)} ${unproven(visitor)} ${belongs(visitor)}
  ${passwordForm(visitor, filled)} ${sessionList(visitor, sessions)} ${CONNECTED}`;
  return send(asked, fullPage(around(visitor, 'Your account'), html`<div class="reading">${body}</div>`), status);
}

const CONNECTED = html`<section>
  <h2>Connected programs</h2>
  <p>Assistants and other programs that you let in work beside your browsers, and stay when these are signed out.</p>
  <p><a href="/account/apps">See which, and end any</a></p>
</section>`;

function unproven({ person, secret }: Visitor): Part {
  return (
    !person.addressProven &&
    html`<div class="note warn">
      <p>
        <strong>Your address is not proved yet.</strong> Until it is, nothing of organizations that you own is told to
        it, and a forgotten password cannot be replaced by mail.
      </p>
      <form method="post">
        ${hidden('form', formToken(secret))} ${hidden('do', 'prove')}
        <button class="quiet">Mail me a link that proves it</button>
      </form>
    </div>`
  );
}

function belongs({ memberships }: Visitor): Part {
  if (memberships.length === 0) {
    return empty('You belong to no organization', 'Ask whoever runs yours to invite you, or open its claim link.');
  }
  const roles = { owner: 'Owner', admin: 'Administrator', member: 'Member' } as const;
  return html`<section>
    <h2>Organizations</h2>
    ${table(
      'Your organizations',
      ['Name', 'You are'],
      memberships.map(({ organization, name, role, frozen }) => [
        frozen
          ? [name, ' ', tag('frozen by the operator', 'bad')]
          : html`<a href="${pathOf(organization)}">${name}</a>`,
        roles[role],
      ]),
    )}
  </section>`;
}

function passwordForm({ person, secret }: Visitor, filled: Filled): Html {
  const current = {
    name: 'current',
    label: 'Present password',
    type: 'password',
    autocomplete: 'current-password',
  } as const;
  return html`<section>
    <h2>${person.password === null ? 'Set a password' : 'Password'}</h2>
    <p>Every other browser is signed out when it changes.</p>
    <form class="sheet" method="post">
      ${hidden('form', formToken(secret))} ${hidden('do', 'password')} ${whosePassword(person.email)}
      ${person.password !== null && field(current, filled)} ${field(NEW_PASSWORD, filled)}
      <button>Set the password</button>
    </form>
  </section>`;
}
