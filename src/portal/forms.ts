import { type Html, html, type Part } from './html.ts';

/** What became of a form that was sent: what stood in it, and what was wrong with it. */
export interface Filled {
  values: Readonly<Record<string, string>>;
  /** Sentences by field. */
  errors: Readonly<Record<string, string>>;
  /** What is wrong with the whole of it. */
  problem?: string | undefined;
}

export const UNFILLED: Filled = { values: {}, errors: {} };

export interface Field {
  name: string;
  label: string;
  type?: 'text' | 'email' | 'password' | 'date' | 'url';
  hint?: Part;
  value?: string;
  autocomplete?: string;
  optional?: boolean;
  readonly?: boolean;
  minlength?: number;
  placeholder?: string;
  /** Told apart from fields of the same name on one page. */
  id?: string;
}

/** A labelled field with its hint and, where it was wrong, the sentence beside it. Passwords are never filled in again. */
export function field(one: Field, { values, errors }: Filled = UNFILLED): Html {
  const { name, label, type = 'text', hint, autocomplete, placeholder, minlength } = one;
  const id = one.id ?? name;
  const error = errors[name];
  const about = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-wrong`].filter(Boolean).join(' ');
  const value = type === 'password' ? '' : (values[name] ?? one.value ?? '');
  return html`<div>
    <label for="${id}">${label}${one.optional === true && html` <span class="soft">(optional)</span>`}</label>
    ${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
    <input
      id="${id}"
      name="${name}"
      type="${type}"
      value="${value}"
      ${about !== '' && html`aria-describedby="${about}"`}
      ${error !== undefined && html`aria-invalid="true"`}
      ${one.optional !== true && html`required`}
      ${one.readonly === true && html`readonly`}
      ${minlength !== undefined && html`minlength="${minlength}"`}
      ${placeholder !== undefined && html`placeholder="${placeholder}"`}
      ${autocomplete !== undefined && html`autocomplete="${autocomplete}"`}
      ${/^(?:email|url)$/.test(type) && html`autocapitalize="none" spellcheck="false"`}
    />
    ${wrong(id, error)}
  </div>`;
}

function wrong(id: string, error: string | undefined): Part {
  return error !== undefined && html`<p class="wrong" id="${id}-wrong">${error}</p>`;
}

export interface Choice {
  value: string;
  label: string;
  hint?: string;
}

/** A list to choose one from. */
export function select(
  one: { name: string; label: string; choices: readonly Choice[]; hint?: Part; value?: string; id?: string },
  { values, errors }: Filled = UNFILLED,
): Html {
  const id = one.id ?? one.name;
  const chosen = values[one.name] ?? one.value;
  return html`<div>
    <label for="${id}">${one.label}</label>
    ${one.hint !== undefined && html`<p class="hint" id="${id}-hint">${one.hint}</p>`}
    <select id="${id}" name="${one.name}" ${one.hint !== undefined && html`aria-describedby="${id}-hint"`}>
      ${one.choices.map(
        ({ value, label }) => html`<option value="${value}" ${value === chosen && html`selected`}>${label}</option>`,
      )}
    </select>
    ${wrong(id, errors[one.name])}
  </div>`;
}

/** Boxes to tick, any number of them. */
export function checks(
  one: { name: string; label: string; choices: readonly Choice[]; hint?: Part; ticked?: readonly string[] },
  { values, errors }: Filled = UNFILLED,
): Html {
  const ticked = values[one.name]?.split(' ') ?? one.ticked ?? [];
  return html`<fieldset>
    <legend>${one.label}</legend>
    ${one.hint !== undefined && html`<p class="hint">${one.hint}</p>`}
    <div class="checks">
      ${one.choices.map(
        ({ value, label, hint }) =>
          html`<label
            ><input type="checkbox" name="${one.name}" value="${value}" ${ticked.includes(value) && html`checked`} />
            <span>${label}${hint !== undefined && html` <span class="soft small">${hint}</span>`}</span></label
          >`,
      )}
    </div>
    ${wrong(one.name, errors[one.name])}
  </fieldset>`;
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

/** Whose password a form is about, for password keepers; people see it elsewhere on the page. */
export function whosePassword(name: string): Html {
  return html`<input type="text" name="username" value="${name}" autocomplete="username" hidden />`;
}

/** What is wrong with a whole form, where a screen reader comes by first. */
export function problemNote({ problem }: Filled): Part {
  return problem !== undefined && html`<div class="note bad" role="alert"><p>${problem}</p></div>`;
}
