import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  build: {
    // light-dark() and color-mix() are used as they are.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // The gateway lets the page load its own files only: nothing may become a data: address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    // A slow machine is no fault of the build's.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
});
