import type { FastifyInstance, FastifyReply } from 'fastify';
import { publicId } from '../ids.ts';
import { type Invitation, join, lookAtInvite } from '../people/invite.ts';
import { NEW_PASSWORD, OWN_PASSWORD } from './claim-pages.ts';
import { isPrivate } from './cookie.ts';
import { type Asked, type Door, go, send, signIn, type Visitor, visitorOf } from './door.ts';
import { type Filled, field, hidden, problemNote, UNFILLED } from './forms.ts';
import { Fields } from './guard.ts';
import { html, type Part } from './html.ts';
import { narrowPage } from './layout.ts';
import { isRefusal, linkToken, refusedLink, troubleOf } from './link-page.ts';
import { notPrivate } from './sign-in-pages.ts';

const LONGEST_NAME = 80;
/** As operations take names; their schemas are not loaded for a box that nobody asks. */
const ONE_LINE = /^[^\x00-\x1f\x7f-\x9f\u2028\u2029\p{Cs}]*$/u;
const ROLES: Readonly<Record<string, string>> = {
  owner: 'an owner',
  admin: 'an administrator',
  member: 'a member with mailboxes of your own',
};

/** `/auth/invite`: the page behind an invitation. Looking at it uses nothing up. */
export function inviteRoutes(door: Door): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/auth/invite', async (request, reply) => {
      const asked = { ...door, request, reply };
      return isPrivate(request) ? invitePage(asked, linkToken(asked), UNFILLED) : notPrivate(asked);
    });
    app.post('/auth/invite', (request, reply) => accept({ ...door, request, reply }));
  };
}

async function invitePage(asked: Asked, token: string, filled: Filled, status = 200): Promise<FastifyReply> {
  const facts = await lookAtInvite(asked.world, token);
  if (!('organization' in facts)) return refusedLink(asked, facts.kind);
  const title = `Join ${facts.organization.name}`;
  const body = html`<h1>${title}</h1>
    <p>
      You are invited to the organization <strong>${facts.organization.name}</strong> on
      ${asked.world.settings.hostname}, as ${ROLES[facts.role] ?? facts.role}.
    </p>
    ${problemNote(filled)}
    <form class="plain" method="post" action="/auth/invite">
      ${hidden('token', token)} ${inputs(facts, await visitorOf(asked), filled)}
      <button>Join the organization</button>
    </form>`;
  return send(asked, narrowPage({ title, body, fromLink: true }), status, true);
}

function inputs(facts: Invitation, visitor: Visitor | undefined, filled: Filled): Part {
  const { account, email } = facts;
  if (account !== null && account.user === visitor?.person.id) {
    return html`<p>You are signed in as ${visitor.person.email}.</p>`;
  }
  const known = { name: 'username', label: 'Mail address', value: email, readonly: true, autocomplete: 'username' };
  const name = { name: 'displayName', label: 'Your name', optional: true, autocomplete: 'name' };
  if (account === null) return [field(known), field(name, filled), field(NEW_PASSWORD, filled)];
  return [
    html`<p>There is an account with this address. Sign in with its password.</p>`,
    field(known),
    field(OWN_PASSWORD, filled),
    html`<p class="small"><a href="/auth/reset">Forgot the password?</a></p>`,
  ];
}

async function accept(asked: Asked): Promise<FastifyReply> {
  const { world, desk, request } = asked;
  if (!isPrivate(request)) return notPrivate(asked);
  const fields = new Fields(request.body);
  const [token, displayName] = [fields.text('token'), fields.line('displayName') ?? null];
  const values = { displayName: displayName ?? '' };
  if (displayName !== null && (displayName.length > LONGEST_NAME || !ONE_LINE.test(displayName))) {
    const errors = { displayName: `Use one line of at most ${LONGEST_NAME} characters.` };
    return invitePage(asked, token, { values, errors }, 422);
  }
  const visitor = (await visitorOf(asked))?.person.id;
  const password = fields.text('password');
  const done = await join(world, desk, { token, password, displayName, visitor, ip: request.ip });
  if (!('organization' in done)) {
    if (isRefusal(done)) return refusedLink(asked, done.kind);
    const { filled, status } = troubleOf(done, values);
    return invitePage(asked, token, filled, status);
  }
  await signIn(asked, done.user);
  return go(asked, `/o/${publicId('organization', done.organization)}?done=joined`);
}
