import preact from '@preact/preset-vite'
import { defaultClientConditions, defineConfig } from 'vite'

// Addresses of assets are relative: the server mounts the inbox below any path.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  // The sources of the other packages: nothing has to be built first.
  resolve: { conditions: ['@pawl/source', ...defaultClientConditions] },
  plugins: [preact({ devToolsEnabled: false, prefreshEnabled: false })],
  build: {
    target: 'es2022',
    // The CSP allows no inline script and no data: URL for one.
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    emptyOutDir: true,
  },
  logLevel: 'warn',
})
