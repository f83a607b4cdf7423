import { CATALOGUE } from '../../../src/operations/catalogue.ts';
import type { Box } from '../box.ts';
import { http, outcome, rpc, type Said } from '../mcp.ts';
import type { Endpoint, Letter, Read, Role, Shown, Way } from './endpoint.ts';

type Json = Record<string, unknown>;
/** Calls a tool in a mailbox; throws what it is refused with. */
type Tool = (name: string, args: Json) => Promise<Json>;

/** Tools over MCP, as a bare program calls them. */
export const overMcp: Way = {
  name: 'MCP',
  destroys: false,
  open: (box, mailbox) =>
    toolEndpoint(box, mailbox, async (base, authorization, name, args) =>
      outcome(await rpc(base, 'tools/call', { name, arguments: { mailbox, ...args } }, { authorization })),
    ),
};

/** The same operations by the REST routes of their own. */
export const overRest: Way = {
  name: 'REST',
  destroys: false,
  open: (box, mailbox) =>
    toolEndpoint(box, mailbox, async (base, authorization, name, args) =>
      resultOf(await routed(base, authorization, name, { mailbox, ...args })),
    ),
};

async function toolEndpoint(
  box: Box,
  mailbox: string,
  call: (base: string, authorization: string, name: string, args: Json) => Promise<Json>,
): Promise<Endpoint> {
  const made = await box.ask('create_agent_token', { name: `story of ${mailbox}`, actions: ['read', 'manage'] });
  const base = `http://127.0.0.1:${box.port('http')}`;
  const authorization = `Bearer ${(made as { secret: string }).secret}`;
  return new ToolEndpoint(async (name, args) => {
    const result = await call(base, authorization, name, args);
    if (typeof result['error'] === 'string') throw new Error(`${name}: ${JSON.stringify(result)}`);
    return result;
  });
}

/** Path parameters out of the arguments; the rest in the query or the body. */
function routed(base: string, authorization: string, name: string, args: Json): Promise<Said> {
  const rest = CATALOGUE.find((one) => one.name === name)?.rest;
  if (rest === undefined) throw new Error(`${name} has no route of its own`);
  const left = { ...args };
  const path = rest.path.replace(/:(\w+)/g, (_, param: string) => {
    const value = String(left[param]);
    delete left[param];
    return encodeURIComponent(value);
  });
  const headers = { authorization, 'content-type': 'application/json' };
  if (rest.method !== 'GET') return http(rest.method, `${base}${path}`, headers, JSON.stringify(left));
  const query = new URLSearchParams(Object.entries(left).map(([key, value]): [string, string] => [key, String(value)]));
  return http('GET', `${base}${path}?${query.toString()}`, { authorization });
}

function resultOf({ status, text, json }: Said): Json {
  if (json === undefined) throw new Error(`no JSON: ${status} ${text.slice(0, 300)}`);
  return json;
}

interface Summary {
  id: string;
  from: { address: string } | null;
  to: { address: string }[];
  unread: boolean;
  starred: boolean;
  labels: string[];
  untrusted: { subject: string };
}
interface Fenced {
  nonce: string;
  text: string;
}

class ToolEndpoint implements Endpoint {
  readonly #tool: Tool;

  constructor(tool: Tool) {
    this.#tool = tool;
  }

  async list(role: Role): Promise<Shown[]> {
    return (await this.#all(role)).map(shown);
  }

  async read(role: Role, subject: string): Promise<Read> {
    const messageId = await this.#id(role, subject);
    const { message } = (await this.#tool('get_message', { messageId })) as unknown as {
      message: Summary & { body: Fenced; attachments: { id: string }[] };
    };
    return {
      subject: message.untrusted.subject,
      from: message.from?.address ?? '',
      to: message.to.map(({ address }) => address),
      text: unfenced(message.body),
      attachments: await Promise.all(message.attachments.map(({ id }) => this.#attachment(id))),
    };
  }

  async mark(role: Role, subject: string, flag: 'seen' | 'flagged' | 'answered', on: boolean): Promise<void> {
    const messageIds = [await this.#id(role, subject)];
    const change = {
      seen: { unread: !on },
      flagged: { starred: on },
      answered: on ? { addLabels: ['$answered'] } : { removeLabels: ['$answered'] },
    };
    await this.#tool('update_message', { messageIds, ...change[flag] });
  }

  async move(from: Role, subject: string, to: Role): Promise<void> {
    const messageIds = [await this.#id(from, subject)];
    if (to === 'trash') await this.#tool('trash_message', { messageIds });
    else await this.#tool('update_message', { messageIds, folder: to });
  }

  async search(role: Role, word: string): Promise<string[]> {
    const { messages } = await this.#tool('search_messages', { query: `body:${word} in:${role}` });
    return (messages as Summary[]).map((one) => one.untrusted.subject);
  }

  async draft({ to, subject, text }: Letter): Promise<void> {
    await this.#tool('create_draft', { to: [to], subject, text });
  }

  async send(subject: string): Promise<void> {
    const { drafts } = await this.#tool('list_drafts', {});
    const all = drafts as (Summary & { revision: string })[];
    const found = all.find((one) => one.untrusted.subject === subject);
    await this.#tool('send_draft', { draftId: found?.id, revision: found?.revision });
  }

  remove(): Promise<void> {
    return Promise.reject(new Error('no tool deletes for good'));
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #all(folder: Role): Promise<Summary[]> {
    return (await this.#tool('list_messages', { folder, limit: 50 }))['messages'] as Summary[];
  }

  async #id(role: Role, subject: string): Promise<string> {
    const found = (await this.#all(role)).filter((one) => one.untrusted.subject === subject);
    if (found.length !== 1) throw new Error(`${found.length} messages in ${role} are called ${subject}`);
    return found[0]?.id ?? '';
  }

  async #attachment(attachmentId: string): Promise<{ name: string; content: string }> {
    const { attachment, text } = (await this.#tool('get_attachment', { attachmentId })) as unknown as {
      attachment: { untrusted: { filename: string } };
      text: Fenced;
    };
    return { name: attachment.untrusted.filename, content: unfenced(text) };
  }
}

function unfenced({ nonce, text }: Fenced): string {
  return text
    .split('\n')
    .map((line) => line.slice(nonce.length + 2))
    .join('\n');
}

function shown({ from, unread, starred, labels, untrusted }: Summary): Shown {
  return {
    subject: untrusted.subject,
    from: from?.address ?? '',
    seen: !unread,
    flagged: starred,
    answered: labels.includes('$answered'),
    draft: labels.includes('$draft'),
  };
}
