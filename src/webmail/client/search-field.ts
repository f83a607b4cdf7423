import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icons.ts';
import { go, route } from './route.ts';
import { SUGGESTED_OPERATORS } from './search-query.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

const hasFocus = signal(false);

/** The search field, with its operators as suggestions. */
export function SearchField() {
  const field = useRef<HTMLInputElement>(null);
  const { search } = route.value;
  // Not as an attribute: each repaint, such as that of the suggestions, would erase what is typed.
  useEffect(() => {
    if (field.current !== null) field.current.value = search;
  }, [search]);
  const submit = (event: Event): void => {
    event.preventDefault();
    const text = (document.querySelector<HTMLInputElement>('#search')?.value ?? '').trim();
    if (text !== '') go({ folder: 'search', search: text });
    document.querySelector<HTMLInputElement>('#search')?.blur();
  };
  return html`<form class="search" role="search" onSubmit=${submit}>
    <${Icon} name="search" />
    <input
      id="search"
      ref=${field}
      name="search"
      type="search"
      placeholder=${t('search.label')}
      aria-label=${t('search.label')}
      autocomplete="off"
      onFocus=${() => (hasFocus.value = true)}
      onBlur=${() => setTimeout(() => (hasFocus.value = false), 150)}
    />
    ${
      hasFocus.value &&
      html`<ul class="suggestions" aria-label=${t('search.operators')}>
        ${SUGGESTED_OPERATORS.map(
          ([text, meaning]) =>
            html`<li onMouseDown=${(event: Event) => add(event, text)}>
              <code>${text}</code> <span class="soft">${t(meaning)}</span>
            </li>`,
        )}
      </ul>`
    }
  </form>`;
}

function add(event: Event, text: string): void {
  event.preventDefault();
  const input = document.querySelector<HTMLInputElement>('#search');
  if (input === null) return;
  input.value = `${input.value.trim()} ${text}`.trim();
  input.focus();
}
