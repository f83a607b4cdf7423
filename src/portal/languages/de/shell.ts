import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about the frame of all pages: header, menu, footer, errors, buttons and common fields. */
export const shell = {
  'layout.skip': 'Zum Inhalt springen',
  'layout.sign-out': 'Abmelden',
  'layout.search': 'Suche',
  'layout.organization': 'Organisation',
  'layout.organization-of': 'Organisation: {name}',
  'layout.organizations': 'Organisationen',
  'layout.pending': 'offen',
  'layout.language': 'Sprache',
  'layout.language-browser': 'Sprache des Browsers',
  'layout.for-agents': 'Für Agenten',
  'layout.more': 'Weitere',

  'table.actions': 'Aktionen',

  'heading.Mail': 'E-Mail',
  'heading.Programs': 'Programme',
  'heading.Organization': 'Organisation',
  'heading.This server': 'Dieser Server',

  'button.home': 'Zur Startseite',
  'button.sign-in': 'Anmelden',
  'button.continue': 'Weiter',
  'button.reload': 'Seite neu laden',
  'button.set-password': 'Passwort festlegen',

  'state.active': 'Aktiv',
  'state.off': 'Aus',

  'role.owner': 'Inhaber',
  'role.admin': 'Administrator',
  'role.member': 'Mitglied',

  'field.optional': 'optional',
  'field.address': 'E-Mail-Adresse',
  'field.password': 'Passwort',
  'field.new-password': 'Neues Passwort',
  'field.new-password-hint': {
    one: 'Mindestens {count} Zeichen. Gut ist eine Passphrase aus mehreren Wörtern.',
    other: 'Mindestens {count} Zeichen. Gut ist eine Passphrase aus mehreren Wörtern.',
  },
  'field.your-password': 'Ihr Passwort',
  'field.not-fresh': 'Ihre Anmeldung liegt mehr als 15 Minuten zurück.',
  'field.wrong-current': 'Das aktuelle Passwort ist falsch.',
  'field.set-password-first':
    'Ihre Anmeldung liegt mehr als 15 Minuten zurück, und Sie haben kein Passwort. Legen Sie eines unter „Ihr Konto“ fest.',
  'field.bad-address': 'Keine gültige E-Mail-Adresse.',
  'field.wrong-account-password': 'Falsches Passwort für das Konto mit dieser Adresse.',
  'field.password-short': {
    one: 'Verwenden Sie mindestens {count} Zeichen.',
    other: 'Verwenden Sie mindestens {count} Zeichen.',
  },
  'field.password-long': {
    one: 'Verwenden Sie höchstens {count} Zeichen.',
    other: 'Verwenden Sie höchstens {count} Zeichen.',
  },
  'field.password-control': 'Ein Passwort darf keine Steuerzeichen enthalten.',

  'error.no-changes': 'Nichts geändert',
  'error.stale-form':
    'Das Formular ist älter als Ihre Anmeldung. Laden Sie die Seite neu, und versuchen Sie es erneut.',
  'error.foreign-form':
    'Das Formular kam von einer anderen Website, oder der Browser hat keinen Ursprung gesendet. Öffnen Sie die Seite auf dieser Website, und versuchen Sie es erneut.',
  'error.large-form': 'Das Formular ist größer als 64 KiB.',
  'error.no-form': 'Der Browser hat kein Formular gesendet.',
  'error.internal': 'Interner Fehler',
  'error.internal-text': 'Interner Fehler; er wurde protokolliert. Versuchen Sie es gleich noch einmal.',
  'error.too-many': 'Zu viele Anfragen',
  'error.flooded': 'Zu viele Anfragen aus Ihrem Netz. Versuchen Sie es in {wait} erneut.',
  'error.too-many-passwords': 'Zu viele falsche Passwörter aus Ihrem Netz. Versuchen Sie es in {wait} erneut.',
  'error.too-many-codes': 'Zu viele falsche Codes. Versuchen Sie es in {wait} erneut.',
  'error.busy': 'Zu viele gleichzeitige Anmeldungen. Versuchen Sie es in einigen Sekunden erneut.',
  'error.insecure': 'Verbindung nicht verschlüsselt',
  'error.insecure-text': 'Passwörter werden nur über HTTPS angenommen. Öffnen Sie dieselbe Seite mit https.',
  'error.insecure-link': 'Weiter mit HTTPS',
  'error.not-found': 'Seite nicht gefunden',
  'error.not-found-text': 'Diese Seite gibt es nicht, oder Sie haben keinen Zugriff auf ihre Organisation.',
  'error.dashboard': 'Zurück zur Übersicht',

  'link.missing': 'Ungültiger Link',
  'link.missing-text':
    'Der Link ist unvollständig oder unbekannt. Kopieren Sie die ganze Adresse aus der E-Mail, oder fordern Sie einen neuen Link an.',
  'link.used': 'Link bereits verwendet',
  'link.used-text':
    'Ein Link funktioniert einmal. Wenn Sie ihn verwendet haben, melden Sie sich an. Wenn nicht, benachrichtigen Sie den Betreiber dieses Mailservers.',
  'link.expired': 'Link abgelaufen',
  'link.expired-text':
    'Bitten Sie den Absender um einen neuen Link. Zum Zurücksetzen des Passworts fordern Sie selbst einen an.',
  'link.taken': 'Organisation bereits übernommen',
  'link.taken-text':
    'Ein Übernahmelink dieser Organisation wurde schon verwendet. Wenn Sie das waren, melden Sie sich an.',
  'link.frozen': 'Organisation gesperrt',
  'link.frozen-text':
    'Der Betreiber dieses Mailservers hat diese Organisation gesperrt. Wenden Sie sich an den Betreiber.',
} satisfies Partial<PortalCatalog>;
