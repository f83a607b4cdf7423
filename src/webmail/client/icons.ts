import { html } from './view.ts';

/** Paths of icons on a grid of 24. */
const PATHS = {
  inbox: 'M4 13h4l1.5 3h5L16 13h4M4 13l2.5-8h11L20 13v6H4z',
  drafts: 'M5 19h14M14.5 5.5l4 4L9 19H5v-4z',
  sent: 'M4 12l16-8-6 16-3-6z',
  archive: 'M4 5h16v4H4zM5.5 9v10h13V9M10 13h4',
  junk: 'M12 3l9 16H3zM12 10v4M12 16.5v.5',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5',
  folder: 'M4 6h6l2 2h8v11H4z',
  star: 'M12 4l2.4 5 5.6.7-4.1 3.8 1.1 5.5-5-2.8-5 2.8 1.1-5.5L4 9.7 9.6 9z',
  unread: 'M4 6h16v12H4zM4 7l8 6 8-6',
  reply: 'M10 6l-6 6 6 6v-4c5 0 8 1 10 4-1-6-4-9-10-9z',
  replyAll: 'M8 7l-5 5 5 5M13 6l-6 6 6 6v-4c4 0 6 1 8 4-1-6-3-9-8-9z',
  forward: 'M14 6l6 6-6 6v-4c-5 0-8 1-10 4 1-6 4-9 10-9z',
  attach: 'M19 11l-7.5 7.5a4.5 4.5 0 0 1-6.4-6.4L13 4.3a3 3 0 0 1 4.3 4.3l-7.8 7.8a1.5 1.5 0 0 1-2.1-2.1L14.5 7',
  search: 'M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5L20 20',
  back: 'M15 5l-7 7 7 7',
  close: 'M6 6l12 12M18 6L6 18',
  write: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  move: 'M4 6h6l2 2h8v11H4zM9 14h6M13 11.5l2.5 2.5-2.5 2.5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  download: 'M12 4v11M7.5 11L12 15.5 16.5 11M5 20h14',
  bold: 'M8 5h5a3.5 3.5 0 0 1 0 7H8zM8 12h6a3.5 3.5 0 0 1 0 7H8z',
  italic: 'M10 5h8M6 19h8M14 5l-4 14',
  underline: 'M7 5v6a5 5 0 0 0 10 0V5M6 20h12',
  bullets: 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01',
  numbers: 'M10 6h10M10 12h10M10 18h10M4 5l1.5-1v5M4 15h2.5L4 19h3',
  quote: 'M5 6v12M10 7h10M10 12h10M10 17h6',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1-1',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9h.01',
  clear: 'M6 5h12M12 5v8M9 19h5M5 5l14 14',
  clock: 'M12 4a8 8 0 1 1 0 16a8 8 0 0 1 0-16zM12 8v4l3 2',
  snooze: 'M12 5a8 8 0 1 1 0 16a8 8 0 0 1 0-16zM9.5 10.5h5l-5 5h5M5 4L2.5 6.5M19 4l2.5 2.5',
  label: 'M4 5h8l8 8-7 7-9-8zM8 9h.01',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5',
  account: 'M12 4a4 4 0 1 1 0 8a4 4 0 0 1 0-8zM4.5 20c.8-4 3.6-5.5 7.5-5.5s6.7 1.5 7.5 5.5',
  shared:
    'M9 5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 0 1 0-7zM2.5 19c.6-3.5 3-4.8 6.5-4.8s5.9 1.3 6.5 4.8M16 5.5a3.2 3.2 0 0 1 0 6M18 14.7c2 .6 3 2 3.5 4.3',
  template: 'M6 3.5h8l4 4v13H6zM14 3.5v4h4M9 12h6M9 15.5h6',
  add: 'M12 5v14M5 12h14',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
} as const;

export type IconName = keyof typeof PATHS;

/** A line icon, hidden from screen readers: its button has a label. */
export function Icon({ name }: { name: IconName }) {
  return html`<svg
    class="icon"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width=${name === 'more' ? 3 : 1.7}
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d=${PATHS[name]} />
  </svg>`;
}

/** A button with an icon and a label for screen readers and tooltips. */
export function IconButton(props: {
  icon: IconName;
  label: string;
  onClick: (event: Event) => void;
  pressed?: boolean;
  className?: string;
}) {
  const { icon, label, onClick, pressed, className = '' } = props;
  return html`<button
    type="button"
    class="icon-button ${className}"
    title=${label}
    aria-label=${label}
    aria-pressed=${pressed}
    onClick=${onClick}
  >
    <${Icon} name=${icon} />
  </button>`;
}
