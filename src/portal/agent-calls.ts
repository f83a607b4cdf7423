import type { z } from 'zod';
import { type Html, html, type HtmlPart } from './html.ts';
import type { AgentCall, Page, PageState } from './page.ts';
import type { Translator } from './translator.ts';
import { isAllowed, type Visit } from './visit.ts';

/** Names of arguments that take an id from the path, by the prefix of the id. */
const ID_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  mbx: ['mailboxId', 'mailbox'],
  dom: ['domainId'],
  que: ['queueId'],
  svc: ['serviceId'],
  whk: ['webhookId'],
  out: ['outboxId'],
};

/** Shows the calls that an agent makes for a page: the one that reads it, and those of its buttons. */
export function agentCalls(t: Translator, visit: Visit, page: Page, state: PageState): HtmlPart {
  const reads = page.calls?.(visit, state) ?? [{ name: page.needs, arguments: idsFor(visit, page.needs, state) }];
  const changes = [...new Set(Object.values(page.actions).flatMap(({ operation = '' }) => operation))];
  const [first, ...more] = reads.filter(({ name }) => isTool(visit, name));
  const others = changes.filter((name) => isTool(visit, name));
  if (first === undefined) return undefined;
  const ways = {
    url: html`<code>${visit.context.baseUrl()}/mcp</code>`,
    call: html`<code>POST /api/tools/NAME</code>`,
    token: html`<a href="${visit.base}/tokens">${t('agents.token')}</a>`,
  };
  return html`<details class="agents">
    <summary>${t('layout.for-agents')}</summary>
    <p class="small">${t.rich('agents.ways', ways)}</p>
    ${[first, ...more].map((one) => callText(t, one))}
    ${others.length > 0 && html`<p class="small">${t('agents.change')}</p>`}
    <ul class="plainlist small">
      ${others.map((name) => html`<li><code>${name}</code> <span class="soft">${t.english(argumentsOf(visit, name))}</span></li>`)}
    </ul>
  </details>`;
}

function callText(t: Translator, { name, arguments: given }: AgentCall): Html {
  return html`<pre class="copy fold" data-copy="${t('agents.call')}" tabindex="0">
${name} ${JSON.stringify(given)}</pre>`;
}

/** True for operations that tokens can call, which those for people are not. */
function isTool(visit: Visit, name: string): boolean {
  return isAllowed(visit, name) && visit.operations.get(name)?.peopleOnly !== true;
}

function idsFor(visit: Visit, name: string, { params }: PageState): Readonly<Record<string, string>> {
  const known = new Set(shapeOf(visit, name).map(([key]) => key));
  return Object.fromEntries(
    Object.values(params).flatMap((id) => {
      const key = ID_ARGUMENTS[id.slice(0, 3)]?.find((one) => known.has(one));
      return key === undefined || !/^[a-z]{3}_\d+$/.test(id) ? [] : [[key, id]];
    }),
  );
}

function argumentsOf(visit: Visit, name: string): string {
  return shapeOf(visit, name)
    .map(([key, schema]) => (schema.safeParse(undefined).success ? `[${key}]` : key))
    .join(', ');
}

function shapeOf(visit: Visit, name: string): (readonly [string, z.ZodType])[] {
  return Object.entries<z.ZodType>(visit.operations.get(name)?.input.shape ?? {});
}
