import type { Refusal } from '../operations/refusal.ts';
import { type Filled, hidden, UNFILLED } from './forms.ts';
import type { Fields } from './guard.ts';
import { formToken } from '../people/secrets.ts';
import { type Html, html, type Part } from './html.ts';
import { ask, type Visit } from './visit.ts';

/** What came of an act: go on to a page that says so, show something once, or show the form again. */
export type Acted =
  /** `said` is a key of the page's `done`. */
  | { kind: 'done'; said: string; to?: string }
  /** Something that is never shown again. */
  | { kind: 'shown'; panel: Html }
  | { kind: 'refused'; filled: Filled };

export type Act = (visit: Visit, fields: Fields, params: Params) => Promise<Acted>;
export type Params = Readonly<Record<string, string>>;

/** What a page is shown with. */
export interface State {
  readonly params: Params;
  readonly query: Readonly<Record<string, unknown>>;
  /** The act that was refused, and its form. */
  readonly act?: string;
  readonly filled: Filled;
}

/** A page of an organization, and what can be done on it. */
export interface Page {
  /** Below the organization's path, with `:parameters`. */
  readonly path: string;
  readonly name: string;
  readonly menu: 'Mail' | 'Programs' | 'Organization' | 'This box' | null;
  /** The operation without which the page is not there. */
  readonly needs: string;
  /** Not for members, who would leave something behind here that outlives their membership. */
  readonly notForMembers?: true;
  /** What is said after an act, by key. */
  readonly done: Readonly<Record<string, string>>;
  readonly acts: Readonly<Record<string, Act>>;
  /** How many things wait there for the person, as the menu shows it. */
  count?(visit: Visit): Promise<number>;
  /** Undefined: there is no such thing. */
  show(visit: Visit, state: State): Promise<Part | undefined>;
}

/** Arguments as a form gives them; what was left empty is left out. */
type Given = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/** An act that is one operation. `input` makes its arguments of the form; `then` says what follows. */
export function acting(
  name: string,
  input: (fields: Fields, params: Params) => Given,
  then: (result: Record<string, unknown>, visit: Visit) => Exclude<Acted, { kind: 'refused' }>,
): Act {
  return async (visit, fields, params) => {
    const given = input(fields, params);
    const done = await ask(visit, name, defined(given));
    return done.kind === 'done' ? then(done.result, visit) : { kind: 'refused', filled: filledOf(given, done.refusal) };
  };
}

function defined(given: Given): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  );
}

/** A refusal as the form shows it: beside the fields that it names, else above them all. */
export function filledOf(given: Given, refusal: Refusal): Filled {
  const issues = Array.isArray(refusal['issues']) ? (refusal['issues'] as { path: string; message: string }[]) : [];
  const own = issues.filter(({ path }) => path.split('.')[0] !== undefined && (path.split('.')[0] ?? '') in given);
  const errors = Object.fromEntries(own.map(({ path, message }) => [path.split('.')[0] ?? '', sentence(message)]));
  const values = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, textOf(value)]));
  return own.length > 0 ? { values, errors } : { values, errors, problem: refusal.message };
}

function textOf(value: Given[string]): string {
  return typeof value === 'object' ? (value ?? []).join(' ') : String(value ?? '');
}

/** What an operation says of a field, as a sentence that can stand alone. */
function sentence(text: string): string {
  const whole = /^(?:is|has|must|may|cannot) /.test(text) ? `This ${text}` : text;
  return `${whole.slice(0, 1).toUpperCase()}${whole.slice(1)}${/[.?!]$/.test(whole) ? '' : '.'}`;
}

/** What a form of this act stands filled with. */
export function filledFor(state: State, act: string): Filled {
  return state.act === act ? state.filled : UNFILLED;
}

/** What every form of a page carries: what it does, and whose it is. */
function carried({ visitor }: Visit, act: string, values: Params = {}): Part {
  return [
    hidden('form', formToken(visitor.secret)),
    hidden('do', act),
    Object.entries(values).map(([k, v]) => hidden(k, v)),
  ];
}

/** A form in the open. */
export function sheet(visit: Visit, act: string, submit: string, body: Part, values: Params = {}): Html {
  return html`<form class="sheet" method="post">
    ${carried(visit, act, values)} ${body}<button>${submit}</button>
  </form>`;
}

/** A form behind its name; open when it was refused. */
export function more(visit: Visit, state: State, act: string, name: string, submit: string, body: Part): Html {
  return html`<details class="more" ${state.act === act && html`open`}>
    <summary>${name}</summary>
    ${sheet(visit, act, submit, body)}
  </details>`;
}

/** One thing done by one press. */
export function press(visit: Visit, act: string, label: string, values: Params = {}, look = 'text'): Html {
  return html`<form class="inline" method="post">
    ${carried(visit, act, values)}<button class="${look}">${label}</button>
  </form>`;
}

/** Something that does not come back: it is asked for twice, with what will be gone. */
export function sure(
  visit: Visit,
  act: string,
  one: { label: string; question: Part; yes: string; values?: Params; body?: Part; calm?: true },
): Html {
  return html`<details class="sure ${one.calm === true && 'calm'}">
    <summary>${one.label}</summary>
    <form method="post">
      ${carried(visit, act, one.values)}
      <p class="small">${one.question}</p>
      ${one.body}<button class="${one.calm === true ? '' : 'bad'}">${one.yes}</button>
    </form>
  </details>`;
}
