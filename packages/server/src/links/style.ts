/** The style sheet of the page behind a link. */
export const style = `:root {
  color-scheme: light dark;
  --line: light-dark(#d5d5db, #35363c);
  --faint: light-dark(#5d6070, #a0a2ae);
  --accent: light-dark(#4f46e5, #5b52e8);
  --red: light-dark(#c6301f, #c33a2b);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif;
  color: light-dark(#17181c, #ececef);
  background: light-dark(#fff, #101113);
}
*, ::before, ::after { box-sizing: border-box; }
body { margin: 0; overflow-wrap: anywhere; }
main { max-width: 640px; margin: 0 auto; padding: 24px 16px 48px; }
h1 { margin: 4px 0 8px; font-size: 22px; line-height: 1.3; text-wrap: pretty; }
h2 { margin: 24px 0 4px; font-size: 14px; color: var(--faint); }
h2.risk { font-size: 16px; }
p { margin: 8px 0; }
.faint { color: var(--faint); font-size: 14px; }
p.risk, h2.risk { color: light-dark(#b42318, #ff9a8f); font-weight: 600; }
dl { margin: 4px 0 16px; border: 1px solid var(--line); border-radius: 8px; }
dl div { padding: 10px 14px; }
dl.values div { display: grid; grid-template-columns: minmax(96px, 1fr) 2fr; gap: 12px; }
dl div + div { border-top: 1px solid var(--line); }
dt { color: var(--faint); }
dd { margin: 0; white-space: pre-wrap; }
dl.texts dd { font: 14px/1.5 ui-monospace, Menlo, Consolas, monospace; }
form { margin: 24px 0 0; }
label { display: block; font-weight: 600; }
textarea, input:not([type=hidden]), select { display: block; width: 100%; min-height: 48px; margin: 4px 0 16px; padding: 8px 10px; border: 1px solid light-dark(#8b8d98, #71737e); border-radius: 8px; background: transparent; color: inherit; font: inherit; }
.choice { margin: 0 0 12px; }
.choice p { margin: 2px 0 0; }
button { width: 100%; min-height: 48px; padding: 8px 16px; border: 1px solid var(--line); border-radius: 8px; background: transparent; color: inherit; font: inherit; font-weight: 600; cursor: pointer; }
button.primary { border-color: transparent; background: var(--accent); color: #fff; }
button.danger { border-color: transparent; background: var(--red); color: #fff; }
a { color: light-dark(#4f46e5, #a5a1ff); }
:focus-visible { outline: 2px solid light-dark(#4f46e5, #a5a1ff); outline-offset: 2px; }
`
