// Pages of Angular's router, one of them loaded late, one behind a button only. Compiled in the browser, so it needs no builder.
import '@angular/compiler';
import { Component, inject, provideExperimentalZonelessChangeDetection, signal } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { ActivatedRoute, provideRouter, Router, RouterLink, RouterOutlet, withHashLocation } from '@angular/router';

const component = (definition, type) => Component(definition)(type) ?? type;

const Home = component({
  selector: 'app-home',
  template: '<h1>A mill by the river</h1><button (click)="open()">The cellar</button>',
}, class {
  router = inject(Router);
  open() {
    this.router.navigateByUrl('/cellar');
  }
});

const Stones = component({
  selector: 'app-stones',
  imports: [RouterLink],
  template: '<h1>Stones</h1>@for (stone of stones(); track stone) {<p><a [routerLink]="\'/stones/\' + stone">{{ stone }}</a></p>} @empty {<p>None yet</p>}',
}, class {
  stones = signal([]);
  constructor() {
    fetch('/api/stones.json').then((given) => given.json()).then((given) => this.stones.set(given));
  }
});

const Stone = component({
  selector: 'app-stone',
  template: '<h1>The {{ name }} stone</h1><p>The {{ name }} stone turns slowly.</p>',
}, class {
  name = inject(ActivatedRoute).snapshot.params.name;
});

const Late = component({ selector: 'app-flour', template: '<h1>Flour</h1><p>It is sold in sacks.</p>' }, class {});
const Cellar = component({ selector: 'app-cellar', template: '<h1>Sacks lie in the cellar</h1>' }, class {});

const App = component({
  selector: 'app-root',
  imports: [RouterLink, RouterOutlet],
  template: '<nav><a routerLink="/">Mill</a> <a routerLink="/stones">Stones</a> <a routerLink="/flour">Flour</a></nav><router-outlet />',
}, class {});

const routes = [
  { path: '', component: Home },
  { path: 'stones', component: Stones },
  { path: 'stones/:name', component: Stone },
  { path: 'flour', loadComponent: () => new Promise((done) => setTimeout(() => done(Late), 300)) },
  { path: 'cellar', component: Cellar },
];
const features = window.byPaths ? [] : [withHashLocation()];
bootstrapApplication(App, { providers: [provideExperimentalZonelessChangeDetection(), provideRouter(routes, ...features)] });
