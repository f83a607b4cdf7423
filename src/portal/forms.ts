import { type Html, html, type HtmlPart } from './html.ts';

/** Values and errors of a submitted form. */
export interface FormState {
  values: Readonly<Record<string, string>>;
  /** Error sentences by field. */
  errors: Readonly<Record<string, string>>;
  /** Error about the form as a whole. */
  problem?: string | undefined;
  /** Language of the errors, where it is not that of the page: operations speak English. */
  errorLanguage?: 'en' | undefined;
}

export const EMPTY_FORM: FormState = { values: {}, errors: {} };

export interface FormField {
  name: string;
  label: HtmlPart;
  type?: 'text' | 'email' | 'password' | 'date' | 'url';
  hint?: HtmlPart;
  value?: string;
  autocomplete?: string;
  /** True, or the word for it in the reader's language. */
  optional?: boolean | string;
  /** Does not say that the field is optional: all of its form are. */
  compact?: boolean;
  readonly?: boolean;
  minlength?: number;
  placeholder?: string;
  /** Distinguishes fields of the same name on one page. */
  id?: string;
}

/** A labelled field with hint and error. Passwords are never filled in again. */
export function field(one: FormField, form: FormState = EMPTY_FORM): Html {
  const { values, errors } = form;
  const { name, label, type = 'text', hint, autocomplete, placeholder, minlength } = one;
  const id = one.id ?? name;
  const error = errors[name];
  const isOptional = one.optional !== undefined && one.optional !== false;
  const about = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-wrong`].filter(Boolean).join(' ');
  const value = type === 'password' ? '' : (values[name] ?? one.value ?? '');
  return html`<div>
    <label for="${id}"
      >${label}${isOptional && one.compact !== true && html` <span class="soft">(${one.optional === true ? 'optional' : one.optional})</span>`}</label
    >
    ${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
    <input
      id="${id}"
      name="${name}"
      type="${type}"
      value="${value}"
      ${about !== '' && html`aria-describedby="${about}"`}
      ${error !== undefined && html`aria-invalid="true"`}
      ${!isOptional && html`required`}
      ${one.readonly === true && html`readonly`}
      ${minlength !== undefined && html`minlength="${minlength}"`}
      ${placeholder !== undefined && html`placeholder="${placeholder}"`}
      ${autocomplete !== undefined && html`autocomplete="${autocomplete}"`}
      ${/^(?:email|url)$/.test(type) && html`autocapitalize="none" spellcheck="false"`}
    />
    ${wrong(id, error, form)}
  </div>`;
}

function wrong(id: string, error: string | undefined, { errorLanguage }: FormState): HtmlPart {
  return (
    error !== undefined &&
    html`<p class="wrong" id="${id}-wrong" ${errorLanguage !== undefined && html`lang="${errorLanguage}"`}>${error}</p>`
  );
}

/** A labelled text area. */
export function textArea(
  one: { name: string; label: string; hint: HtmlPart; placeholder: string },
  form: FormState = EMPTY_FORM,
): Html {
  const { values, errors } = form;
  const { name, label, hint, placeholder } = one;
  return html`<div>
    <label for="${name}">${label}</label>
    <p class="hint" id="${name}-hint">${hint}</p>
    <textarea
      id="${name}"
      name="${name}"
      rows="8"
      required
      aria-describedby="${name}-hint"
      placeholder="${placeholder}"
    >
${values[name] ?? ''}</textarea>
    ${wrong(name, errors[name], form)}
  </div>`;
}

export interface Choice {
  value: string;
  label: string;
  hint?: string;
}

/** A select element. */
export function select(
  one: { name: string; label: string; choices: readonly Choice[]; hint?: HtmlPart; value?: string; id?: string },
  form: FormState = EMPTY_FORM,
): Html {
  const { values, errors } = form;
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
    ${wrong(id, errors[one.name], form)}
  </div>`;
}

/** A group of checkboxes. */
export function checkboxes(
  one: { name: string; label: string; choices: readonly Choice[]; hint?: HtmlPart; ticked?: readonly string[] },
  form: FormState = EMPTY_FORM,
): Html {
  const { values, errors } = form;
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
    ${wrong(one.name, errors[one.name], form)}
  </fieldset>`;
}

/** A checkbox in the row of a list. */
export function rowCheckbox(name: string, value: string, label: string): Html {
  return html`<label class="pick"
    ><input type="checkbox" name="${name}" value="${value}" /><span class="hidden">${label}</span></label
  >`;
}

/** A checkbox that checks all of a list; it appears with a script only. */
export function selectAllCheckbox(name: string, label = 'Select all'): Html {
  return html`<label class="select-all small" hidden><input type="checkbox" data-all="${name}" /> ${label}</label>`;
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

/** Hidden user name of a password form, for password managers. */
export function usernameField(name: string): Html {
  return html`<input type="text" name="username" value="${name}" autocomplete="username" hidden />`;
}

/** The form's error, announced by screen readers. */
export function problemNote({ problem, errorLanguage }: FormState): HtmlPart {
  const language = errorLanguage !== undefined && html`lang="${errorLanguage}"`;
  return problem !== undefined && html`<div class="note bad" role="alert"><p ${language}>${problem}</p></div>`;
}
