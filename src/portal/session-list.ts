import { publicId } from '../ids.ts';
import { formToken } from '../people/secrets.ts';
import type { SessionLine } from '../people/session-commands.ts';
import type { Visitor } from './door.ts';
import { hidden } from './forms.ts';
import { type Html, html } from './html.ts';
import { moment, table, tag } from './parts.ts';

/** The browsers that are signed in as somebody, each to be ended alone. */
export function sessionList({ session, secret }: Visitor, all: readonly SessionLine[]): Html {
  const press = (act: string, label: string, id?: number): Html =>
    html`<form class="inline" method="post">
      ${hidden('form', formToken(secret))} ${hidden('do', act)}
      ${id !== undefined && hidden('session', publicId('session', id))}<button class="text">${label}</button>
    </form>`;
  return html`<section>
    <h2>Sessions</h2>
    <p>Browsers that are signed in as you. One that is not used for two hours is signed out by itself.</p>
    ${table(
      'Sessions',
      ['Browser', 'From', 'Last used', ''],
      all.map(({ id, agent, ip, createdAt, lastUsedAt }) => [
        [browserOf(agent), html` <span class="soft">since ${moment(createdAt)}</span>`],
        ip,
        moment(lastUsedAt),
        id === session.id ? tag('this one', 'ok') : press('end', 'End it', id),
      ]),
    )}
    ${all.length > 1 && html`<p class="pages">${press('others', 'End all others')}</p>`}
  </section>`;
}

/** A browser's name out of its User-Agent, by which a person knows it again. */
function browserOf(agent: string): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari|curl)\/(\d+)/.exec(agent.replace(/Chrome(?=.* (?:Edg|OPR)\/)/, ''));
  const system = /(Windows|Android|iPhone|iPad|Macintosh|Linux)/.exec(agent)?.[1];
  const name = { Edg: 'Edge', OPR: 'Opera' }[browser?.[1] ?? ''] ?? browser?.[1];
  if (name === undefined) return agent === '' ? 'Unknown' : agent.slice(0, 60);
  return system === undefined ? name : `${name} on ${system === 'Macintosh' ? 'a Mac' : system}`;
}
