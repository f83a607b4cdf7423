import type { PageLanguage } from '../http/language.ts';

const ENGLISH = {
  opening: 'Opening your mail ...',
  needsScripts: 'Web mail needs JavaScript. Mail programs can use IMAP or JMAP.',
  mail: 'Mail',
  signInTitle: 'Sign in to mail',
  openMail: 'Open your mail',
  signedOut: 'You are signed out.',
  address: 'Mail address',
  password: 'Password',
  signIn: 'Sign in',
  hint: 'Use the address and the password of your mailbox, or an app password.',
  portal: 'Domains and mailboxes are managed in the portal.',
  httpsOnly: 'Passwords are accepted over HTTPS only.',
  wrong: 'Wrong address or password.',
  barred: 'This mailbox cannot be opened:',
  throttled: 'Too many wrong passwords from your network. Try again in {wait}.',
  busy: 'Too many concurrent sign-ins. Try again in a few seconds.',
};

/** Texts of the pages that the server writes. */
type PageTexts = Readonly<typeof ENGLISH>;

const GERMAN: PageTexts = {
  opening: 'Ihre E-Mails werden geöffnet ...',
  needsScripts: 'Webmail benötigt JavaScript. Mailprogramme können IMAP oder JMAP verwenden.',
  mail: 'E-Mail',
  signInTitle: 'Bei Webmail anmelden',
  openMail: 'Postfach öffnen',
  signedOut: 'Sie sind abgemeldet.',
  address: 'E-Mail-Adresse',
  password: 'Passwort',
  signIn: 'Anmelden',
  hint: 'Verwenden Sie Adresse und Passwort Ihres Postfachs oder ein App-Passwort.',
  portal: 'Domains und Postfächer werden im Portal verwaltet.',
  httpsOnly: 'Passwörter werden nur über HTTPS angenommen.',
  wrong: 'Adresse oder Passwort ist falsch.',
  barred: 'Dieses Postfach kann nicht geöffnet werden:',
  throttled: 'Zu viele falsche Passwörter aus Ihrem Netz. Versuchen Sie es in {wait} erneut.',
  busy: 'Zu viele gleichzeitige Anmeldungen. Versuchen Sie es in einigen Sekunden erneut.',
};

const SPANISH: PageTexts = {
  opening: 'Abriendo tu correo ...',
  needsScripts: 'El correo web necesita JavaScript. Los programas de correo pueden usar IMAP o JMAP.',
  mail: 'Correo',
  signInTitle: 'Iniciar sesión en el correo',
  openMail: 'Abrir tu correo',
  signedOut: 'Has cerrado la sesión.',
  address: 'Dirección de correo',
  password: 'Contraseña',
  signIn: 'Iniciar sesión',
  hint: 'Usa la dirección y la contraseña de tu buzón, o una contraseña de aplicación.',
  portal: 'Los dominios y los buzones se administran en el portal.',
  httpsOnly: 'Las contraseñas solo se aceptan por HTTPS.',
  wrong: 'Dirección o contraseña incorrecta.',
  barred: 'Este buzón no se puede abrir:',
  throttled: 'Demasiadas contraseñas incorrectas desde tu red. Inténtalo de nuevo en {wait}.',
  busy: 'Demasiados inicios de sesión a la vez. Inténtalo de nuevo en unos segundos.',
};

export const PAGE_TEXTS: Readonly<Record<PageLanguage, PageTexts>> = { en: ENGLISH, de: GERMAN, es: SPANISH };
