import type { Refusal } from '../core/refusal.ts';
import { type FormState, hidden, EMPTY_FORM } from './forms.ts';
import type { Fields } from './form-fields.ts';
import type { PageName, PlainPortalKey } from './message-types.ts';
import { formToken } from '../people/secrets.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { runOperation, type Visit } from './visit.ts';

/** Result of an action: redirect with a notice, show a panel once, or show the form again with its errors. */
export type ActionResult =
  /** `notice` is a key of the page's `notices`. */
  | { kind: 'done'; notice: string; to?: string }
  /** A panel with a secret, which is never shown again. */
  | { kind: 'shown'; panel: Html }
  | { kind: 'refused'; form: FormState };

export interface PageAction {
  (visit: Visit, fields: Fields, params: Params): Promise<ActionResult>;
  /** Name of the one operation that the action calls. */
  readonly operation?: string;
}
export type Params = Readonly<Record<string, string>>;

/** Input of a page besides the visit. */
export interface PageState {
  readonly params: Params;
  readonly query: Readonly<Record<string, unknown>>;
  /** The refused action; `form` has its values and errors. */
  readonly action?: string;
  readonly form: FormState;
}

/** A call of a tool that an agent makes for what a page shows or does. */
export interface AgentCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A page of an organization, with its actions. */
export interface Page {
  /** Below the organization's path, with `:parameters`. */
  readonly path: string;
  /** In English; its message has it in the other languages. */
  readonly name: PageName;
  readonly menu: 'Mail' | 'Programs' | 'Organization' | 'This server' | null;
  /** True for a page whose words are messages; the others are English in every language, and are marked so. */
  readonly translated?: true;
  /** Operation that the visitor must be allowed to call to see the page. */
  readonly needs: string;
  /** Hidden from members: what they create here would outlive their membership. */
  readonly notForMembers?: true;
  /** Notices after an action, by key: in English, or a message. */
  readonly notices: Readonly<Record<string, string | { readonly message: PlainPortalKey }>>;
  readonly actions: Readonly<Record<string, PageAction>>;
  /** Calls by which an agent reads what the page shows; by default the operation of `needs`. */
  calls?(visit: Visit, state: PageState): readonly AgentCall[];
  /** Number of items that await the visitor, for the menu. */
  count?(visit: Visit): Promise<number>;
  /** Undefined if the item does not exist: 404. */
  show(visit: Visit, state: PageState): Promise<HtmlPart | undefined>;
}

/** Arguments from a form. Empty fields are left out. */
type OperationArguments = Readonly<
  Record<string, string | number | boolean | readonly string[] | Readonly<Record<string, unknown>> | null | undefined>
>;

/**
 * Creates an action that calls one operation. `then`: the notice to show, or a function that maps the result. `input`:
 * names of the form's fields that are the arguments, or a function that maps the form to them.
 */
export function operationAction(
  name: string,
  then: string | ((result: Record<string, unknown>, visit: Visit) => Exclude<ActionResult, { kind: 'refused' }>),
  input: readonly string[] | ((fields: Fields, params: Params) => OperationArguments) = [],
): PageAction {
  const act: PageAction = async (visit, fields, params) => {
    const given =
      typeof input === 'function'
        ? input(fields, params)
        : Object.fromEntries(input.map((field) => [field, fields.text(field)]));
    const done = await runOperation(visit, name, defined(given));
    if (done.kind === 'refused') {
      return { kind: 'refused', form: { ...refusedForm(given, done.refusal), errorLanguage: 'en' } };
    }
    return typeof then === 'string' ? { kind: 'done', notice: then } : then(done.result, visit);
  };
  return Object.assign(act, { operation: name });
}

function defined(given: OperationArguments): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  );
}

/** Shows a refusal beside the fields that it names, else above the form. */
export function refusedForm(given: OperationArguments, refusal: Refusal): FormState {
  const issues = Array.isArray(refusal['issues']) ? (refusal['issues'] as { path: string; message: string }[]) : [];
  const own = issues.filter(({ path }) => path.split('.')[0] !== undefined && (path.split('.')[0] ?? '') in given);
  const errors = Object.fromEntries(own.map(({ path, message }) => [path.split('.')[0] ?? '', sentence(message)]));
  const values = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, textOf(value)]));
  return own.length > 0 ? { values, errors } : { values, errors, problem: refusal.message };
}

function textOf(value: OperationArguments[string]): string {
  if (Array.isArray(value)) return value.join(' ');
  // A nested argument: its fields are asked for again, among them passwords.
  return typeof value === 'object' ? '' : String(value ?? '');
}

/** Turns the message about a field into a whole sentence. */
function sentence(text: string): string {
  const whole = /^(?:is|has|must|may|cannot) /.test(text) ? `This ${text}` : text;
  return `${whole.slice(0, 1).toUpperCase()}${whole.slice(1)}${/[.?!]$/.test(whole) ? '' : '.'}`;
}

/** Values and errors for the form of an action; empty unless that action was refused. */
export function formStateFor(state: PageState, act: string): FormState {
  return state.action === act ? state.form : EMPTY_FORM;
}

/** Hidden fields of every form: CSRF token, action and values. */
function hiddenFields({ visitor }: Visit, act: string, values: Params = {}): HtmlPart {
  return [
    hidden('form', formToken(visitor.secret)),
    hidden('do', act),
    Object.entries(values).map(([k, v]) => hidden(k, v)),
  ];
}

/** A visible form. */
export function actionForm(visit: Visit, act: string, submit: string, body: HtmlPart, values: Params = {}): Html {
  return html`<form class="sheet" method="post">
    ${hiddenFields(visit, act, values)} ${body}<button>${submit}</button>
  </form>`;
}

/** A form of one select element in the row of a list: its heading names it. */
export function chooseForm(visit: Visit, act: string, submit: string, body: HtmlPart): Html {
  return html`<form class="choose" method="post">
    ${hiddenFields(visit, act, {})} ${body}<button class="quiet">${submit}</button>
  </form>`;
}

/** A form in a closed details element; open after a refusal. */
export function collapsedForm(
  visit: Visit,
  state: PageState,
  act: string,
  name: string,
  submit: string,
  body: HtmlPart,
): Html {
  return html`<details class="more" ${state.action === act && html`open`}>
    <summary>${name}</summary>
    ${actionForm(visit, act, submit, body)}
  </details>`;
}

/** A form around a list with checkboxes: each button submits its own action for what is checked. */
export function bulkForm(
  visit: Visit,
  body: HtmlPart,
  buttons: readonly (readonly [act: string, label: string])[],
): Html {
  return html`<form class="bulk" method="post">
    ${hidden('form', formToken(visit.visitor.secret))} ${body}
    <div class="acts">
      ${buttons.map(([act, label]) => html`<button class="quiet" name="do" value="${act}">${label}</button>`)}
    </div>
  </form>`;
}

/** A form with one button. */
export function actionButton(visit: Visit, act: string, label: string, values: Params = {}, look = 'text'): Html {
  return html`<form class="inline" method="post">
    ${hiddenFields(visit, act, values)}<button class="${look}">${label}</button>
  </form>`;
}

/** A button that asks for confirmation, with a sentence on the consequences. */
export function confirmedAction(
  visit: Visit,
  act: string,
  one: { label: string; question: HtmlPart; yes: string; values?: Params; body?: HtmlPart; calm?: true },
): Html {
  return html`<details class="sure ${one.calm === true && 'calm'}">
    <summary>${one.label}</summary>
    <form method="post">
      ${hiddenFields(visit, act, one.values)}
      <p class="small">${one.question}</p>
      ${one.body}<button class="${one.calm === true ? '' : 'bad'}">${one.yes}</button>
    </form>
  </details>`;
}
