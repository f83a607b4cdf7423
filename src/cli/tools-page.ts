import { inputSchema } from '../operations/description.ts';
import { type Operation, TOOLSETS } from '../operations/operation.ts';

interface Argument {
  name: string;
  type: string;
  required: boolean;
}

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  default?: unknown;
}

/** docs/tools.md: what agents can call, then what only people can, then what only the command line can. */
export function documentation(
  catalogue: readonly Operation[],
  people: readonly Operation[],
  box: readonly Operation[],
): string {
  const sections = TOOLSETS.flatMap((toolset) => {
    const own = catalogue.filter((one) => one.toolset === toolset);
    return own.length === 0 ? [] : [`## ${toolset}\n\n${own.map(entry).join('\n\n')}`];
  });
  const decisions = `## Only for people\n\nPages of the portal, and \`bin/mailstead call NAME\`. No token does.\n\n${people.map(entry).join('\n\n')}`;
  const only = `## Only at the command line\n\n\`bin/mailstead call NAME\` reaches these too. No token does.\n\n${box.map(entry).join('\n\n')}`;
  return `${[INTRODUCTION, ...sections, decisions, only].join('\n\n')}\n`;
}

const INTRODUCTION = [
  '# Tools',
  'Made by `npm run docs` from the operations themselves; a test compares. Every one is an MCP tool at `{base_url}/mcp`, `POST /api/tools/{name}`, and `bin/mailstead call NAME`; some have a route of their own. `/openapi.json` of a running box has the whole schemas.',
  'Any call may name the organization as `organizationId`, which must be its own. Lists come in pages: `cursor` is what the page before gave as `nextCursor`. **core** has these and the marked ones (◆) of other toolsets.',
].join('\n\n');

function entry(one: Operation): string {
  const given = argumentsOf(inputSchema(one));
  const route = one.rest === undefined ? [] : [`\`${one.rest.method} ${one.rest.path}\``];
  const marks = [
    `needs: ${needs(one)}`,
    ...(one.hints.readOnly ? ['changes nothing'] : []),
    ...(one.hints.destructive ? ['takes away'] : []),
    ...(one.hints.idempotent && !one.hints.readOnly ? ['can be repeated'] : []),
    ...(one.secret === true ? ['answers a secret'] : []),
    ...(one.rule === undefined ? [] : ['a proposal under a policy']),
    ...route,
  ];
  const core = one.core === true && one.toolset !== 'core' ? ' ◆' : '';
  const rows = given.map(({ name, type, required }) => `| \`${name}\` | ${type}${required ? '' : ', optional'} |`);
  const table = rows.length === 0 ? [] : ['', '| argument | value |', '|---|---|', ...rows];
  return [`### ${one.name}${core}`, '', one.description, '', `*${one.title}* · ${marks.join(' · ')}`, ...table].join(
    '\n',
  );
}

/** What a caller must be or have, in words. */
export function needs({ action, orAction, operatorOnly, socketOnly, peopleOnly }: Operation): string {
  if (socketOnly === true) return 'the command line';
  if (peopleOnly === true) return 'a person';
  if (action === 'anonymous') return 'nothing';
  const either = orAction === undefined ? action : `${action} or ${orAction}`;
  const what = action === 'identity' ? 'any token' : either;
  return operatorOnly === true ? `${what}, operator only` : what;
}

/** The arguments of an operation, with their types in words. */
export function argumentsOf(schema: object): Argument[] {
  const { properties = {}, required = [] } = schema as Schema;
  return Object.entries(properties).map(([name, one]) => ({
    name,
    type: typeOf(one),
    required: required.includes(name),
  }));
}

function typeOf({ enum: values, const: only, anyOf, oneOf, type, items, default: usual }: Schema): string {
  const text = ((): string => {
    const choices = values ?? (only === undefined ? undefined : [only]);
    if (choices !== undefined) return choices.map((one) => `\`${String(one)}\``).join(' or ');
    const ways = anyOf ?? oneOf;
    if (ways !== undefined) return ways.map(typeOf).join(' or ');
    if (type === 'array') return `list of ${typeOf(items ?? {})}`;
    return TYPES[type ?? ''] ?? 'any value';
  })();
  return usual === undefined ? text : `${text}, else ${JSON.stringify(usual)}`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  object: 'object',
  null: 'null',
};
