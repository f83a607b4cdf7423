import { useState } from 'preact/hooks';
import { suggestAddresses } from './contacts.ts';
import { addressText, nameOf } from './format.ts';
import type { MailAddress } from './jmap-types.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

const ASK_AFTER_MS = 200;
let timer: ReturnType<typeof setTimeout> | undefined;

interface RecipientFieldProps {
  /** Distinguishes the fields of a message. */
  name: string;
  label: string;
  value: string;
  onChange: (text: string) => void;
  autofocus?: boolean;
}

/** A field for addresses, which suggests those of past mail. */
export function RecipientField({ name, label, value, onChange, autofocus = false }: RecipientFieldProps) {
  const [suggested, setSuggested] = useState<MailAddress[]>([]);
  const [chosen, setChosen] = useState(0);
  const start = value.search(/[^,;\n]*$/);
  const onInput = (event: Event): void => {
    const text = (event.target as HTMLInputElement).value;
    onChange(text);
    clearTimeout(timer);
    const last = text.slice(text.search(/[^,;\n]*$/));
    timer = setTimeout(() => {
      suggestAddresses(last).then(
        (found) => (setSuggested(found), setChosen(0)),
        () => setSuggested([]),
      );
    }, ASK_AFTER_MS);
  };
  const take = (address: MailAddress): void => {
    onChange(`${value.slice(0, start)}${start > 0 ? ' ' : ''}${addressText(address)}, `);
    setSuggested([]);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (suggested.length === 0) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosen((chosen + step + suggested.length) % suggested.length);
    else if (event.key === 'Enter' || event.key === 'Tab') take(suggested[chosen] as MailAddress);
    else if (event.key === 'Escape') setSuggested([]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const id = `suggest-${name}`;
  return html`<div class="line">
    <label for=${`field-${name}`}>${label}</label>
    <input
      id=${`field-${name}`}
      value=${value}
      autofocus=${autofocus}
      ref=${(input: HTMLInputElement | null) => autofocus && input !== null && document.activeElement === document.body && input.focus()}
      autocomplete="off"
      spellcheck="false"
      role="combobox"
      aria-expanded=${suggested.length > 0}
      aria-controls=${id}
      aria-autocomplete="list"
      onInput=${onInput}
      onKeyDown=${onKeyDown}
      onBlur=${() => setTimeout(() => setSuggested([]), 150)}
    />
    ${suggestionList({ id, suggested, chosen, take })}
  </div>`;
}

interface SuggestionListProps {
  id: string;
  suggested: readonly MailAddress[];
  /** Index of the suggestion that Enter takes. */
  chosen: number;
  take: (address: MailAddress) => void;
}

function suggestionList({ id, suggested, chosen, take }: SuggestionListProps) {
  return html`<ul
    class="suggestions"
    id=${id}
    role="listbox"
    aria-label=${t('compose.suggested')}
    hidden=${suggested.length === 0}
  >
    ${suggested.map(
      (one, at) =>
        html`<li role="option" aria-selected=${at === chosen} onMouseDown=${() => take(one)}>
          <strong>${nameOf(one)}</strong> <span class="soft">${one.email}</span>
        </li>`,
    )}
  </ul>`;
}
