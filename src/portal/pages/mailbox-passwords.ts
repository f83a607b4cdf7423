import type { createAppPassword, listAppPasswordsOf } from '../../operations/mailboxes/app-passwords.ts';
import { checks, field } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { type Act, acting, filledFor, more, type Params, type State, sure } from '../page.ts';
import { day, secret, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';
import type { Mailbox } from './mailboxes.ts';
import { endOf, expiryField } from './shared.ts';

const which = (params: Params) => ({ mailboxId: params['id'] });

export const appPasswordActs: Readonly<Record<string, Act>> = {
  'make-app': acting(
    'create_app_password',
    (fields, params) => ({
      ...which(params),
      name: fields.line('name') ?? '',
      scopes: fields.list('scopes'),
      readOnly: fields.text('readOnly') === 'true',
      person: fields.text('person') === 'true',
      expiresAt: endOf(fields.line('expiresAt')),
    }),
    (result) => {
      const { password, appPassword } = result as Answer<typeof createAppPassword>;
      const about = 'It is shown this once. Give it to one program only, so that you can revoke it alone.';
      return {
        kind: 'shown',
        panel: secret(`The app password for ${appPassword.name}`, [['Password', password]], about),
      };
    },
  ),
  'revoke-app': acting(
    'revoke_app_password',
    (fields, params) => ({ ...which(params), appPasswordId: fields.text('appPasswordId') }),
    () => ({ kind: 'done', said: 'revoked' }),
  ),
};

const DOORS = { imap: 'IMAP', smtp: 'SMTP', jmap: 'JMAP' } as const;

/** Further passwords of a mailbox, one a program. */
export async function appPasswords(visit: Visit, state: State, one: Mailbox): Promise<Part> {
  const listed = await read<typeof listAppPasswordsOf>(visit, 'list_app_passwords', { mailboxId: one.id });
  if (listed === undefined) return undefined;
  return html`<section>
    <h2>App passwords</h2>
    <p>One for each program or device: revoked alone, and limited to what it needs.</p>
    ${listed.appPasswords.length > 0 && list(visit, listed.appPasswords)}
    ${
      can(visit, 'create_app_password') &&
      more(visit, state, 'make-app', 'Make an app password', 'Make it', inputs(state))
    }
  </section>`;
}

function list(visit: Visit, all: Answer<typeof listAppPasswordsOf>['appPasswords']): Part {
  return table(
    'App passwords',
    ['Name', 'For', 'Last used', 'Ends', ''],
    all.map(({ id, name, scopes, readOnly, person, lastUsedAt, expiresAt }) => [
      name,
      [
        scopes.map((one) => DOORS[one]).join(', '),
        ' ',
        readOnly && tag('reading only'),
        ' ',
        person && tag('a person'),
      ],
      lastUsedAt === null ? html`<span>never</span>` : day(lastUsedAt),
      expiresAt === null ? '' : day(expiresAt),
      sure(visit, 'revoke-app', {
        label: 'Revoke',
        question: `${name} is disconnected at once.`,
        yes: 'Revoke it',
        values: { appPasswordId: id },
      }),
    ]),
  );
}

const PERSON = [{ value: 'true', label: 'A person', hint: 'no policy for agents applies to it' }];

function inputs(state: State): Part {
  const filled = filledFor(state, 'make-app');
  const scopes = Object.entries(DOORS).map(([value, label]) => ({ value, label }));
  return html`${field({ name: 'name', label: 'For', id: 'app-name', hint: 'The program or device, such as "phone".' }, filled)}
  ${checks({ name: 'scopes', label: 'It may use', choices: scopes, ticked: ['imap', 'smtp'] }, filled)}
  ${checks({ name: 'readOnly', label: 'Limits', choices: [{ value: 'true', label: 'Reading only' }] }, filled)}
  ${checks({ name: 'person', label: 'Who uses it', choices: PERSON, ticked: ['true'] }, filled)}
  ${expiryField('app-expires', filled)}`;
}
